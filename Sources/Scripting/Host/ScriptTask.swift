import Application
public import Lua

/// A piece of script that the host runs: a chunk, a handler, a timer's function. It may wait, and the host goes on.
public final class ScriptTask {
    enum Progress {
        case running
        /// Yielded; `cancel` forgets what it waits for.
        case waiting(cancel: () -> Void)
        case finished(Result<[LuaValue], LuaError>)
    }

    let thread: LuaThread
    var progress = Progress.running
    /// When its time is up; nil for no limit.
    var deadline: MonotonicTime?
    /// How deep its code runs, in protected calls; what an interrupt unwinds.
    var depth = 0
    /// How many commits came before, each in answer to the one before it, when this runs in answer to a commit; else 0.
    let generation: Int
    var onFinish: ((Result<[LuaValue], LuaError>) -> Void)?
    /// The entry of an attached prompt that it is, or was started by; nil for the host's own code.
    var entry: ScriptEntry?
    /// Whether it is to be stopped at the next occasion.
    var isCancelRequested = false
    /// Cancels the task at its deadline while it waits and nobody awaits its end.
    var deadlineTimer: LoopTimer?

    init(thread: LuaThread, generation: Int) {
        self.thread = thread
        self.generation = generation
    }

    public var isFinished: Bool { if case .finished = progress { true } else { false } }

    /// What it came to; nil while it runs or waits.
    public var result: Result<[LuaValue], LuaError>? {
        if case .finished(let result) = progress { result } else { nil }
    }
}
