/// Limits of a state's scripts.
public struct LuaLimits: Sendable {
    /// Maximum bytes of Lua's allocator; nil for no limit. A script beyond it gets an error; the host continues.
    public var memory: Int?

    /// Maximum bytes of output by `print`, `io.write` and the standard streams; nil for no limit. The first
    /// write beyond it raises an error; later ones are dropped until `LuaState.resetOutput()`.
    public var output: Int?

    /// Maximum number of active calls, including host and library functions, and coroutines that have resumed one
    /// another; nil for Lua's own limits. A call beyond it raises an error that `pcall` catches, without running a
    /// message handler in Lua. Tail calls replace their caller. A limit makes calls slower.
    public var callDepth: Int?

    /// Creates limits; none by default.
    public init(memory: Int? = nil, output: Int? = nil, callDepth: Int? = nil) {
        self.memory = memory
        self.output = output
        self.callDepth = callDepth
    }
}
