/// What a state's scripts may use.
public struct LuaLimits: Sendable {
    /// Bytes that Lua's allocator gives out; nil for no limit. A script that would pass it gets an error, the host goes on.
    public var memory: Int?

    public init(memory: Int? = nil) { self.memory = memory }
}
