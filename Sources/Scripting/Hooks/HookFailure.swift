import Lua

/// The error of a handler or a timer, for `app:errors()`.
struct HookFailure {
    let title: String
    let event: String
    let error: LuaError
    let time: Double
}
