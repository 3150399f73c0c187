/// What a state's scripts may use.
public struct LuaLimits: Sendable {
    /// Bytes that Lua's allocator gives out; nil for no limit. A script that would pass it gets an error, the host goes on.
    public var memory: Int?

    /// Bytes that scripts may write by `print`, `io.write` and the standard streams; nil for no limit. The first write that
    /// would pass it raises an error, later ones are dropped, until `LuaState.resetOutput()`.
    public var output: Int?

    public init(memory: Int? = nil, output: Int? = nil) {
        self.memory = memory
        self.output = output
    }
}
