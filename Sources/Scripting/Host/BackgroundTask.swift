import Application
import Lua

/// A task of a script that should finish before the process stops.
struct BackgroundTask {
    let name: String
    let onExpire: LuaFunction?
    /// The task that began it; nil if no script did. Its failure ends the background task, which would stay otherwise.
    weak var owner: ScriptTask?
}
