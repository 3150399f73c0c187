import Application
import Files
import Lua

/// What `init.lua` registered, so that a newer version can take its place.
struct InitScript {
    var hooks: [Hook] = []
    /// Take back what is no hook: timers, observers.
    var undo: [(ScriptHost) -> Void] = []
    /// The delegate that it set.
    var delegate: LuaTable?
    /// The files whose change makes it run again, and what they were when it ran.
    var watched: [String: FileStatus?] = [:]
    var isRunning = false
    var timer: LoopTimer?
}
