import Application
import CPlatform
import Glibc
import Items
import Logging
import Lua

/// Memory pressure: its sources and the response.
extension ScriptHost {
    /// Arms the kernel's source at the first wait: a short script does not need it, and would pay for it at its end.
    func watchMemory() {
        guard let memoryPressure else { return }
        loop.onFirstWait = { [unowned self] in
            memoryPressure.start(on: loop) { [unowned self] origin in warnOfMemory(origin.rawValue) }
        }
    }

    /// How loud a memory warning is. Those of the machine come every two seconds where other programs need its memory:
    /// one a minute is shown, and none where nobody looks.
    func levelOfMemoryWarning() -> Logger.Level {
        if ["script", "scripts"].contains(lifeCycle.memorySource) { return .info }
        let now = MonotonicTime.now()
        let isRecent = lifeCycle.lastMachineWarning.map { now.seconds(since: $0) < 60 } ?? false
        guard frontEnd != nil || isatty(2) == 1, !isRecent else { return .debug }
        lifeCycle.lastMachineWarning = now
        return .info
    }

    /// Starts measuring the memory that scripts cause.
    func limitProcess() {
        // A row of the columns with the caches of queries.
        scriptMemory = ScriptMemory(state, kept: items.count * 256)
        guard let scriptMemory else { return }
        scheduler.memory = scriptMemory
    }

    func warnOfMemory(_ source: String) {
        guard exitCode == nil else { return }
        lifeCycle.memorySource = source
        handle(.memoryWarning, cause: .psi)
    }

    /// Handles scripts near their own limit, or a process beyond its limit: collects garbage first, and then warns or
    /// stops them.
    ///
    /// - Returns: the error for the running script.
    func scriptMemoryIsShort() -> LuaError? {
        state.collectGarbage()
        warnScripts()
        return scriptMemory?.check()
    }

    private func warnScripts() {
        let memory = state.memory
        guard let limit = memory.limit, memory.used >= limit / 8 * 5 else {
            lifeCycle.hasWarnedScripts = false
            return
        }
        // Once until memory is available again, not with each collection.
        guard !lifeCycle.hasWarnedScripts else { return }
        lifeCycle.hasWarnedScripts = true
        warnOfMemory("scripts")
    }

    /// Returns the memory that handlers freed to the system.
    func returnMemory() {
        state.collectGarbage()
        _ = cubby_trim_memory()
    }
}
