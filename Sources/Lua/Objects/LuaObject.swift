internal import CLuaShim

/// A Swift class that scripts see, declared like a Swift type:
///
/// ```swift
/// extension Lamp: LuaObject {
///     static var luaClass: LuaClassDeclaration {
///         LuaClassDeclaration(Lamp.self, doc: "A lamp of the house.") {
///             Property("room", \.room, doc: "Where it stands.")
///             Method("dim", ["percent": "0 is off"], doc: "Turns it down.") { (lamp, percent: Int) in lamp.dim(to: percent) }
///             Static("named", ["room"]) { (room: String) in Lamp(room: room) }
///         }
///     }
/// }
///
/// state.addClass(Lamp.self)
/// state.setGlobal("desk", to: Lamp(room: "Study"))
/// ```
///
/// Its objects are arguments and results of declared functions. An object is one value in Lua. A state declares the class
/// when it first meets it.
public protocol LuaObject: AnyObject, LuaRepresentable {
    /// The class as scripts see it. A subclass with members of its own overrides it.
    static var luaClass: LuaClassDeclaration { get }
}

extension LuaObject {
    public static var luaType: LuaType { .object(luaClass.name) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .userdata(let userdata) = value, let object: Self = userdata.state.object(of: userdata.reference)
        else { throw LuaMismatch(Self.luaType, value) }
        self.init(itself: object)
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let L = state.current
        pushReference(self, state.objectClass(Swift.type(of: self)).pointer, on: L)
        defer { clua_settop(L, -2) }
        return state.value(at: -1, on: L)
    }

    public static func read(_ call: LuaCall, at position: Int) throws -> Self {
        guard let object: Self = call.state.object(at: call.index(position), on: call.L) else {
            throw call.mismatch(position, luaType)
        }
        return object
    }

    public func push(as call: LuaCall) -> LuaResults {
        pushReference(self, call.state.objectClass(Swift.type(of: self)).pointer, on: call.L)
        return .one
    }
}

extension LuaRepresentable {
    /// An existing value. An initializer of a class cannot give back another object, but one of any type can.
    fileprivate init(itself value: Self) { self = value }
}
