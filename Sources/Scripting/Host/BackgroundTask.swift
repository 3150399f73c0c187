import Application
import Lua

/// A task of a script that should finish before the process stops.
struct BackgroundTask {
    let name: String
    let onExpire: LuaFunction?
}
