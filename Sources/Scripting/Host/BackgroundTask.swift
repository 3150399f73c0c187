import Application
import Lua

/// A task of a script that should finish before the process stops.
struct BackgroundTask {
    let name: String
    let onExpire: LuaFunction?
    /// What began it; nil when that was not a script. Its failure ends the background task, which nothing else would.
    weak var owner: ScriptTask?
}
