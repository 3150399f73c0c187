import Lua

/// An error in a handler or a timer, kept for `app:errors()`.
struct HookFailure {
    let title: String
    let event: String
    let error: LuaError
    let time: Double
}
