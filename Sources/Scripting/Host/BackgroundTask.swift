import Application
import Lua

/// Work that a script asked to finish before the process stops.
struct BackgroundTask {
    let name: String
    let onExpire: LuaFunction?
}
