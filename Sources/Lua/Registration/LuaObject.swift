internal import CLuaShim

/// A Swift class accessible to scripts, declared like a Swift type:
///
/// ```swift
/// extension Lamp: LuaObject {
///     static var luaClass: LuaClassDeclaration {
///         LuaClassDeclaration(Lamp.self, doc: "A lamp of the house.") {
///             LuaProperty("room", \.room, doc: "Where it stands.")
///             LuaMethod("dim", ["percent": "0 is off"], doc: "Turns it down.") { (lamp, percent: Int) in lamp.dim(to:
///             percent) } LuaStatic("named", ["room"]) { (room: String) in Lamp(room: room) }
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
        return state.popValue(on: L)
    }

    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        guard let object: Self = call.state.object(at: call.index(position), on: call.L) else {
            throw call.mismatch(position, luaType)
        }
        return object
    }

    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        pushReference(self, call.state.objectClass(Swift.type(of: self)).pointer, on: call.L)
        return .one
    }
}

extension LuaRepresentable {
    /// Returns an existing value. A class initializer cannot return another object, but a generic one can.
    fileprivate init(itself value: Self) { self = value }
}

/// A class as visible to scripts: its name, documentation and members.
public struct LuaClassDeclaration {
    /// The name, for errors, help and `tostring`.
    package let name: String

    let type: ObjectIdentifier
    /// Declares the class in a state, with its members and those of its superclasses.
    let declare: (LuaState) -> any DeclaredClass
    /// Adds the members to a subclass.
    private let inherit: (any DeclaredClass) -> Void

    /// Declares a class.
    ///
    /// - Parameters:
    ///   - type: the Swift class.
    ///   - name: its name in Lua; nil for the type's name.
    ///   - doc: the documentation for help.
    ///   - superclass: the class whose members are inherited; objects are accepted in place of the superclass's.
    ///   - members: properties, methods, static functions, operators, and names without a member.
    public init<Object: LuaObject>(
        _ type: Object.Type, _ name: String? = nil, doc: String = "", extending superclass: (any LuaObject.Type)? = nil,
        @LuaMembers<Object> members: @escaping () -> [LuaMember<Object>]
    ) {
        let name = name ?? "\(type)"
        self.name = name
        self.type = ObjectIdentifier(type)
        declare = { state in
            let cls = LuaClass<Object>(name, doc: doc, in: state)
            // Registered before its members: their arguments may be of this class.
            state[classOf: ObjectIdentifier(type)] = cls
            if let superclass {
                clua_setsuperclass(cls.pointer, state.objectClass(superclass).pointer)
                superclass.luaClass.inherit(cls)
            }
            for member in members() { member.declare(cls) }
            cls.becomePartOfState()
            return cls
        }
        inherit = { subclass in
            superclass?.luaClass.inherit(subclass)
            let cls = LuaClass<Object>(membersOf: subclass)
            for member in members() where !(member is LuaStatic<Object>) { member.declare(cls) }
        }
    }
}

/// Classes of ``LuaObject`` types.
extension LuaState {
    /// Declares a class. The table of its static functions, if there are any, becomes a global with the class's name.
    public func addClass(_ type: any LuaObject.Type) {
        let cls = objectClass(type)
        if let table = cls.ownTable { globals[cls.name] = .table(table) }
    }

    /// Assigns a global: a value of any type with a counterpart in Lua.
    public func setGlobal(_ name: String, to value: some LuaRepresentable) { globals[name] = value.luaValue(in: self) }

    /// The class of a type, declared on first use.
    func objectClass(_ type: any LuaObject.Type) -> any DeclaredClass {
        if let known = self[classOf: ObjectIdentifier(type)] { return known }
        let declaration = type.luaClass
        // A subclass without a declaration uses its superclass's.
        let cls = self[classOf: declaration.type] ?? declaration.declare(self)
        self[classOf: ObjectIdentifier(type)] = cls
        return cls
    }

    /// The object at a stack index; nil for a value of another class.
    func object<Object: LuaObject>(at index: Int32, on L: OpaquePointer) -> Object? {
        guard clua_type(L, index) == LuaBasicType.userdata.rawValue,
            let object = clua_toobject(L, index, objectClass(Object.self).pointer)
        else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue() as? Object
    }

    /// The object of a referenced userdata; nil for one of another class.
    func object<Object: LuaObject>(of reference: LuaReference) -> Object? {
        reading(reference) { object(at: -1, on: $0) }
    }
}

/// A state's class without the static type of its objects.
protocol DeclaredClass: AnyObject {
    var name: String { get }
    var pointer: OpaquePointer { get }
    var ownTable: LuaTable? { get }
    var state: LuaState { get }
}

extension LuaClass: DeclaredClass {}

/// A Swift type whose class a state declares member by member, with ``LuaClass``: its values can be arguments and
/// results of functions declared by Swift types.
///
/// ```swift
/// extension Lamp: LuaInstance { static let luaName = "Lamp" }
///
/// let lamps = LuaClass<Lamp>(Lamp.luaName, doc: "A lamp of the house.", in: state)
/// lamps.method("join", ["other"], doc: "Joins two lamps.") { (lamp, other: Lamp) in lamp.partner = other }
/// ```
///
/// The class must be made before the first call of such a function.
@usableFromInline
package protocol LuaInstance: LuaRepresentable {
    /// The name of the class.
    static var luaName: String { get }
}

extension LuaInstance {
    public static var luaType: LuaType { .object(luaName) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .userdata(let userdata) = value, let cls = userdata.state.luaClass(of: Self.self),
            let object = cls.object(of: value)
        else { throw LuaMismatch(Self.luaType, value) }
        self = object
    }

    public func luaValue(in state: LuaState) -> LuaValue { state.luaClass(of: Self.self)?.value(self) ?? .nil }

    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        guard let object = call.state.luaClass(of: Self.self)?.object(at: call.index(position), on: call.L) else {
            throw call.mismatch(position, luaType)
        }
        return object
    }

    public func push(as call: LuaCall) -> LuaResults {
        guard let cls = call.state.luaClass(of: Self.self) else { return call.returns(LuaValue.nil) }
        cls.push(self, on: call.L)
        return .one
    }
}

extension LuaState {
    /// The class of a type; nil until it is made.
    package func luaClass<T>(of type: T.Type) -> LuaClass<T>? {
        self[classOf: ObjectIdentifier(type)] as? LuaClass<T>
    }
}
