import Application
package import Lua

/// A unit of script execution: a chunk, a handler, a timer's function. It may wait while the host continues.
package final class ScriptTask {
    enum Progress {
        case running
        /// Yielded; `cancel` cancels the wait.
        case waiting(cancel: () -> Void)
        case finished(Result<[LuaValue], LuaError>)
    }

    let thread: LuaThread
    var progress = Progress.running
    /// Whether another thread has cancelled it, which the loop may not know yet.
    var isCancelled: () -> Bool = { false }
    /// Makes the arguments of its function; nil once it has started, or if they were given.
    var prepare: (() throws -> [LuaValue])?
    /// Its time limit in seconds; nil for none.
    var limit: Double?
    /// Its deadline; nil for no limit.
    var deadline: MonotonicTime?
    /// The depth of its code in protected calls, which an interrupt unwinds.
    var depth = 0
    /// The number of previous commits in a chain of responses; 0 unless this responds to a commit.
    let generation: Int
    var onFinish: ((Result<[LuaValue], LuaError>) -> Void)?
    /// The entry of an attached prompt that started it; nil for the host's own code.
    var entry: ScriptEntry?
    /// Its description for the user: `the timer every 2.0 s`; nil for a chunk.
    var title: String?
    /// Whether it was started during another script's break and runs at once, rather than afterwards.
    var isOfBreak = false
    /// Whether it must stop at the next opportunity.
    var isCancelRequested = false
    /// Cancels the task at its deadline while it waits and is not awaited.
    var deadlineTimer: LoopTimer?

    init(thread: LuaThread, generation: Int) {
        self.thread = thread
        self.generation = generation
    }

    package var isFinished: Bool { if case .finished = progress { true } else { false } }

    /// Its result; nil while it runs or waits.
    package var result: Result<[LuaValue], LuaError>? {
        if case .finished(let result) = progress { result } else { nil }
    }
}
