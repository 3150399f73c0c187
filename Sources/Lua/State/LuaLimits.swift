/// Limits of a state's scripts.
public struct LuaLimits: Sendable {
    /// The most bytes of Lua's allocator; nil for no limit. A script beyond it gets an error; the host continues.
    public var memory: Int?

    /// The most bytes that scripts write by `print`, `io.write` and the standard streams; nil for no limit. The first
    /// write beyond it raises an error; later ones are dropped until `LuaState.resetOutput()`.
    public var output: Int?

    /// Limits; none by default.
    public init(memory: Int? = nil, output: Int? = nil) {
        self.memory = memory
        self.output = output
    }
}
