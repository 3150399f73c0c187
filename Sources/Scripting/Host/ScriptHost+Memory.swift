import Application
import CPlatform
import Lua
import Stores

/// Memory that is short: who says so, and what is let go.
extension ScriptHost {
    func watchMemory() {
        guard let memoryPressure else { return }
        memoryPressure.start(on: loop) { [unowned self] in warnOfMemory(memoryPressure.origin.rawValue) }
    }

    func warnOfMemory(_ source: String) {
        guard exitCode == nil else { return }
        lifeCycle.memorySource = source
        handle(.memoryWarning, cause: .psi)
    }

    /// Scripts are close to their own limit. What is garbage goes first; only if that does not do, they are warned.
    func scriptMemoryIsShort() {
        state.collectGarbage()
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
