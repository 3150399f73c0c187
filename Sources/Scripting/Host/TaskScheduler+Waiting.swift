import Application
package import Lua

/// Waits of scripts and of the host, by those of the scheduler.
extension TaskScheduler {
    /// Suspends the calling script.
    ///
    /// - Parameters:
    ///   - call: the waiting binding's call.
    ///   - register: takes the function that ends the wait, and returns a function that cancels it.
    /// - Returns: the binding's result.
    /// - Throws: `cancelled` or `deadline`, when a nested wait is ended by Ctrl-C, the application's end or the
    ///   script's deadline. Scripts cannot catch it.
    package func wait(_ call: LuaCall, _ register: @escaping (@escaping () -> Void) -> () -> Void) throws -> LuaResults
    {
        try wait(for: call) { resume in register { resume { $0.returnsNothing() } } }
    }

    /// Suspends the calling script until values arrive, which are the call's results.
    package func waitForValues(
        _ call: LuaCall, _ register: @escaping (@escaping ([LuaValue]) -> Void) -> () -> Void
    ) throws -> LuaResults {
        try wait(for: call) { resume in register { values in resume { try $0.returns(values: values) } } }
    }

    /// Turns of the loop for the host itself, while a condition holds. The deadline stops code that runs meanwhile, too.
    func turnLoop(until deadline: MonotonicTime, while condition: () -> Bool) {
        let outer = commonDeadline
        commonDeadline = deadline
        defer {
            commonDeadline = outer
            armDeadline()
        }
        while condition() {
            let left = deadline.seconds(since: .now())
            if left <= 0 { break }
            turnLoop(timeout: left)
        }
    }
}
