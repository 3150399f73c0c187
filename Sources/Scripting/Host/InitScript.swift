import Application
import Files
import Lua

/// The registrations of `init.lua`, for a reload.
struct InitScript {
    var hooks: [Hook] = []
    /// Undoes registrations other than hooks: timers, observers.
    var undo: [(ScriptHost) -> Void] = []
    /// The delegate set by the script.
    var delegate: LuaTable?
    /// The watched files, with their status when they ran.
    var watched: [String: FileStatus?] = [:]
    var isRunning = false
    var timer: LoopTimer?
}
