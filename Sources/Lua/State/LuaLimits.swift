/// Limits of a state's scripts.
public struct LuaLimits: Sendable {
    /// Maximum bytes of Lua's allocator; nil for no limit. A script beyond it gets an error; the host continues.
    ///
    /// It also holds for values of the host: an argument, a result of a registered function, a global that does not fit
    /// is an error before it is there. A value that the host assigns without an error, such as by a subscript, is
    /// dropped, and the next call into Lua throws. What a run returns takes no more memory in Swift, either.
    public var memory: Int?

    /// Maximum bytes of output by `print`, `io.write` and the standard streams; nil for no limit. The first
    /// write beyond it raises an error; later ones are dropped until `LuaState.resetOutput()`.
    public var output: Int?

    /// Maximum number of active calls, including host and library functions, and coroutines that have resumed one
    /// another; nil for Lua's own limits. A call beyond it raises an error that `pcall` catches, without running a
    /// message handler in Lua. Tail calls replace their caller. A limit makes calls slower.
    public var callDepth: Int?

    /// The limits of each conversion between Lua and Swift.
    public var conversion = LuaConversionLimits()

    /// Creates limits; none by default, except those of a conversion.
    public init(
        memory: Int? = nil, output: Int? = nil, callDepth: Int? = nil,
        conversion: LuaConversionLimits = LuaConversionLimits()
    ) {
        self.memory = memory
        self.output = output
        self.callDepth = callDepth
        self.conversion = conversion
    }
}

/// Limits of one conversion: of a run's result, an argument, a global.
///
/// A table or a string that occurs several times is decoded once for each type, unless the type is a class, but counts
/// each time: a few tables that contain each other can stand for 2^40 values.
public struct LuaConversionLimits: Sendable {
    /// Maximum number of values, those of tables included.
    public var values: Int

    /// Maximum number of bytes of strings.
    public var bytes: Int

    /// Maximum depth of tables, and of Swift types.
    public var depth: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - values: the number of values; 16,777,216 if not given.
    ///   - bytes: the bytes of strings; a gigabyte if not given.
    ///   - depth: the depth; 100 if not given.
    public init(values: Int = 1 << 24, bytes: Int = 1 << 30, depth: Int = 100) {
        self.values = values
        self.bytes = bytes
        self.depth = depth
    }
}
