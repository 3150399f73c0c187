internal import CLuaShim

/// A Swift class accessible to scripts, declared like a Swift type:
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
/// Its objects can be arguments and results of declared functions. Each object has a single value in Lua. A state
/// declares the class on first use.
public protocol LuaObject: AnyObject, LuaRepresentable {
    /// The class as visible to scripts. A subclass with additional members overrides it.
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
    /// Returns an existing value. A class initializer cannot return another object, but a generic one can.
    fileprivate init(itself value: Self) { self = value }
}
