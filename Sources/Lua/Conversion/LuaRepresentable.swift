/// A Swift type with a counterpart in Lua. Functions and properties are declared by such types:
///
/// ```swift
/// enum Mode: String, CaseIterable, LuaRepresentable { case dim, bright }
///
/// lamps.property("mode", "How it shines.", get: { $0.mode }, set: { $0.mode = $1 })
/// lamps.method("blink", ["pattern", "mode"], "Blinks.") { (lamp, pattern: [Double], mode: Mode?) in
///     lamp.blink(pattern, mode ?? .bright)
/// }
/// ```
public protocol LuaRepresentable {
    /// The type as declarations state it.
    static var luaType: LuaType { get }

    /// Converts a Lua value.
    ///
    /// - Throws: `LuaMismatch` for a value of another type.
    init(lua value: LuaValue) throws(LuaMismatch)

    /// Converts to a Lua value.
    func luaValue(in state: LuaState) -> LuaValue

    /// Reads an argument. The default implementation suffices.
    static func read(_ call: LuaCall, at position: Int) throws -> Self

    /// Pushes the value as a result. The default implementation suffices.
    func push(as call: LuaCall) -> LuaResults
}

extension LuaRepresentable {
    public static func read(_ call: LuaCall, at position: Int) throws -> Self {
        do { return try Self(lua: call.value(position)) } catch { throw call.refuse(position, error.message) }
    }

    public func push(as call: LuaCall) -> LuaResults { call.returns(luaValue(in: call.state)) }
}

/// What is wrong with a value, in words: `integer expected, got string`.
///
/// Thrown by a declared function, with the argument's name, it refuses that argument: the error names the function, too.
public struct LuaMismatch: Error, Equatable {
    /// What is wrong.
    public let message: String
    /// The name of the refused argument; nil outside of calls.
    let argument: String?

    /// A mismatch, as of an ``LuaRepresentable/init(lua:)``, or of an argument.
    public init(_ message: String, argument: String? = nil) {
        self.message = message
        self.argument = argument
    }

    init(_ type: LuaType, _ value: LuaValue) { self.init("\(type.name) expected, got \(value.typeName)") }

    func at(_ place: String) -> LuaMismatch { LuaMismatch("\(place): \(message)") }
}
