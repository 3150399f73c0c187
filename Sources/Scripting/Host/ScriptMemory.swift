import Application
import CPlatform
import Glibc
import Items
import Logging
import Lua

/// The memory that scripts cause anywhere in the process: Lua, a picture, an item's text, the history.
///
/// Lua's allocator counts and limits Lua's own memory. For the rest the process is measured while a script runs: it may
/// grow by the limit and a quarter beyond its size at launch and the data that the stores load.
final class ScriptMemory {
    private let state: LuaState
    private let limit: Int
    private let watch: MemoryWatch
    /// The process's size before the first script, plus the data that the stores will load.
    private let base: Int
    private var allowed: Int
    /// Whether a function of the host stopped for lack of memory since the last check.
    private var gaveUp = false

    /// Nil without a limit, or where the system does not report the process's size.
    ///
    /// - Parameters:
    ///   - state: the scripts' state.
    ///   - kept: the bytes of data that the stores load from their files.
    init?(_ state: LuaState, kept: Int) {
        guard let limit = state.memory.limit, let base = MemoryWatch.ownMemory() else { return nil }
        self.state = state
        self.limit = limit
        self.base = base + kept
        allowed = base + kept + limit + limit / 4
        let interrupter = state.interrupter
        watch = MemoryWatch { interrupter.interrupt(.memory) }
    }

    /// Starts a new chunk. At a prompt the memory of earlier entries stays: the chunk may still use half the limit.
    func renew() {
        allowed = max(base + limit + limit / 4, (MemoryWatch.ownMemory() ?? base) + limit / 2)
    }

    /// Starts measuring while a script's code runs.
    func begin() { watch.begin(limit: allowed) }

    func end() { watch.end() }

    /// The bytes that a script may still cause; negative beyond the limit.
    func room() -> Int {
        guard let own = MemoryWatch.ownMemory() else { return .max }
        let room = allowed - own
        if room < 0 { gaveUp = true }
        return min(room, max(limit - state.memory.used, 0))
    }

    /// Checks the limit again after a collection.
    ///
    /// - Returns: the error that stops the script; nil within the limit.
    func check() -> LuaError? {
        let hadGivenUp = gaveUp
        gaveUp = false
        guard let own = MemoryWatch.ownMemory(), own > allowed || hadGivenUp else { return nil }
        _ = cubby_trim_memory()
        guard hadGivenUp || (MemoryWatch.ownMemory() ?? 0) > allowed else { return nil }
        return LuaError(
            .memory,
            "not enough memory: the script made the host hold more than the limit of \(limit / 1_048_576) MB")
    }
}

/// Memory pressure: its sources and the response.
extension ScriptHost {
    /// Arms the kernel's source at the first wait: a short script does not need it, and would pay for it at its end.
    func watchMemory() {
        guard let memoryPressure = sandbox.memoryPressure else { return }
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
}
