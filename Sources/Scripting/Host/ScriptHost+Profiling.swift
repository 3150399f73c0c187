package import Lua

extension ScriptHost {
    /// Whether a profiler is active.
    package var hasCallObserver: Bool { scheduler.onSwitch != nil }

    /// Reports the calls of scripts to a profiler, while it is active.
    ///
    /// - Parameters:
    ///   - sample: called after an interrupt with `sample`, within the running code.
    ///   - onSwitch: called with a coroutine when code of its task starts or resumes, and when it waits or ends.
    package func observeCalls(sample: (() -> Void)?, onSwitch: ((_ thread: LuaThread, _ runs: Bool) -> Void)?) {
        state.sampler = sample
        scheduler.onSwitch = onSwitch
    }
}
