import Application
import CPlatform
import Items
import Lua

/// Memory that is short: who says so, and what is let go.
extension ScriptHost {
    /// The kernel is asked when the process first waits: one that does its work and ends has nobody to warn, and would pay
    /// for it at its end.
    func watchMemory() {
        guard let memoryPressure else { return }
        loop.onFirstWait = { [unowned self] in
            memoryPressure.start(on: loop) { [unowned self] origin in warnOfMemory(origin.rawValue) }
        }
    }

    /// From here on what scripts make the process hold counts, too.
    func limitProcess() {
        // A row of the columns, and what queries keep of it.
        scriptMemory = ScriptMemory(state, kept: items.count * 256)
        guard let scriptMemory else { return }
        scheduler.memory = scriptMemory
    }

    func warnOfMemory(_ source: String) {
        guard exitCode == nil else { return }
        lifeCycle.memorySource = source
        handle(.memoryWarning, cause: .psi)
    }

    /// Scripts are close to their own limit, or have made the process hold too much. What is garbage goes first; only if that
    /// does not do, they are warned, or stopped.
    ///
    /// - Returns: why the running one is to be stopped.
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
        // Once until there is room again, not with each collection.
        guard !lifeCycle.hasWarnedScripts else { return }
        lifeCycle.hasWarnedScripts = true
        warnOfMemory("scripts")
    }

    /// What the handlers let go goes back to the system.
    func returnMemory() {
        state.collectGarbage()
        _ = cubby_trim_memory()
    }
}
