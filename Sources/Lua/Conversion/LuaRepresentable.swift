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

/// The type error of a value, in words: `integer expected, got string`.
public struct LuaMismatch: Error, Equatable {
    public let message: String

    public init(_ message: String) { self.message = message }

    init(_ type: LuaType, _ value: LuaValue) { message = "\(type.name) expected, got \(value.typeName)" }

    func at(_ place: String) -> LuaMismatch { LuaMismatch("\(place): \(message)") }
}
