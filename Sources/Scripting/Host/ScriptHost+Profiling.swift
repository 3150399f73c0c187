package import Lua

extension ScriptHost {
    /// Whether a profiler is there.
    package var hasCallObserver: Bool { scheduler.onSwitch != nil }

    /// Tells a profiler of the calls of scripts, while it is there.
    ///
    /// - Parameters:
    ///   - sample: called after an interrupt with `sample`, within the running code.
    ///   - onSwitch: called with a coroutine when code of its task begins to run, and when it waits or ends.
    package func observeCalls(sample: (() -> Void)?, onSwitch: ((_ thread: LuaThread, _ runs: Bool) -> Void)?) {
        state.sampler = sample
        scheduler.onSwitch = onSwitch
    }
}
