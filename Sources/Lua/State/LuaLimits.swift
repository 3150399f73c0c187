/// Limits of a state's scripts.
public struct LuaLimits: Sendable {
    /// The most bytes of Lua's allocator; nil for no limit. A script beyond it gets an error; the host continues.
    public var memory: Int?

    /// The most bytes that scripts write by `print`, `io.write` and the standard streams; nil for no limit. The first
    /// write beyond it raises an error; later ones are dropped until `LuaState.resetOutput()`.
    public var output: Int?

    /// The most calls that are active at once, those of functions of the host and of Lua's libraries, and of coroutines
    /// that have resumed one another, included; nil for Lua's own limits. A call beyond it raises an error, which `pcall`
    /// catches; a message handler in Lua is not run for it. Tail calls replace their caller. A limit makes calls slower.
    public var callDepth: Int?

    /// Limits; none by default.
    public init(memory: Int? = nil, output: Int? = nil, callDepth: Int? = nil) {
        self.memory = memory
        self.output = output
        self.callDepth = callDepth
    }
}
