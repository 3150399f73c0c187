/// A Swift type with a counterpart in Lua, used to declare functions and properties:
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
    /// The type in declarations.
    static var luaType: LuaType { get }

    /// The result types of a function that returns this type. The default is the type itself.
    static var luaResults: [LuaType] { get }

    /// Converts a Lua value.
    ///
    /// - Throws: `LuaMismatch` for a value of another type.
    init(lua value: LuaValue) throws(LuaMismatch)

    /// Converts to a Lua value.
    func luaValue(in state: LuaState) -> LuaValue

    /// Reads an argument. The default implementation suffices.
    static func read(_ call: LuaCall, at position: Int) throws -> Self

    /// Pushes the value as a result. The default implementation suffices.
    func push(as call: LuaCall) throws -> LuaResults
}

extension LuaRepresentable {
    public static var luaResults: [LuaType] { [luaType] }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws -> Self {
        do { return try Self(lua: call.value(position)) } catch { throw call.refuse(position, error.message) }
    }

    @inlinable
    public func push(as call: LuaCall) throws -> LuaResults { call.returns(luaValue(in: call.state)) }
}

/// A type mismatch, described in words: `integer expected, got string`.
///
/// If a declared function throws it with an argument's name, the error names the function and the argument.
public struct LuaMismatch: Error, Equatable {
    private enum Reason {
        case text(String)
        /// Formatted on demand: an argument of several possible types is tried with each.
        case type(LuaType, got: String)
    }

    private let reason: Reason
    /// The name of the refused argument; nil outside of calls.
    let argument: String?

    /// The description.
    public var message: String {
        switch reason {
        case .text(let message): message
        case .type(let type, let got): "\(type.name) expected, got \(got)"
        }
    }

    /// Creates a mismatch, for an ``LuaRepresentable/init(lua:)`` or for an argument.
    public init(_ message: String, argument: String? = nil) {
        reason = .text(message)
        self.argument = argument
    }

    @usableFromInline
    init(_ type: LuaType, _ value: LuaValue) {
        var got = value.typeName
        if case .userdata(let userdata) = value, let name = userdata.className { got = name }
        reason = .type(type, got: got)
        argument = nil
    }

    public static func == (a: LuaMismatch, b: LuaMismatch) -> Bool {
        a.message == b.message && a.argument == b.argument
    }

    func at(_ place: String) -> LuaMismatch { LuaMismatch("\(place): \(message)") }
}
