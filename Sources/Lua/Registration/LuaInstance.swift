internal import CLuaShim

/// A Swift type whose class a state declares member by member, with ``LuaClass``: its values can be arguments and
/// results of functions declared by Swift types.
///
/// ```swift
/// extension Lamp: LuaInstance { static let luaName = "Lamp" }
///
/// let lamps = LuaClass<Lamp>(Lamp.luaName, "A lamp of the house.", in: state)
/// lamps.method("join", ["other"], "Joins two lamps.") { (lamp, other: Lamp) in lamp.partner = other }
/// ```
///
/// The class must be made before the first call of such a function.
public protocol LuaInstance: LuaRepresentable {
    /// The name of the class.
    static var luaName: String { get }
}

extension LuaInstance {
    public static var luaType: LuaType { .object(luaName) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .userdata(let userdata) = value, let cls = userdata.state.instances(Self.self),
            let object = cls.object(of: value)
        else { throw LuaMismatch(Self.luaType, value) }
        self = object
    }

    public func luaValue(in state: LuaState) -> LuaValue { state.instances(Self.self)?.value(self) ?? .nil }

    public static func read(_ call: LuaCall, at position: Int) throws -> Self {
        guard let object = call.state.instances(Self.self)?.object(at: call.index(position), on: call.L) else {
            throw call.mismatch(position, luaType)
        }
        return object
    }

    public func push(as call: LuaCall) -> LuaResults {
        guard let cls = call.state.instances(Self.self) else { return call.returns(LuaValue.nil) }
        cls.push(self, on: call.L)
        return .one
    }
}

extension LuaState {
    /// The class of a type; nil until it is made.
    fileprivate func instances<T>(_ type: T.Type) -> LuaClass<T>? {
        objectClasses[ObjectIdentifier(type)] as? LuaClass<T>
    }
}
