internal import CLuaShim

/// A class as visible to scripts: its name, documentation and members.
public struct LuaClassDeclaration {
    /// The name, for errors, help and `tostring`.
    public let name: String

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
    ///   - members: properties, methods, static functions and operators.
    public init<Object: LuaObject>(
        _ type: Object.Type, _ name: String? = nil, doc: String = "", extending superclass: (any LuaObject.Type)? = nil,
        @LuaMembers<Object> members: @escaping () -> [any LuaMember<Object>]
    ) {
        let name = name ?? "\(type)"
        self.name = name
        self.type = ObjectIdentifier(type)
        declare = { state in
            let cls = LuaClass<Object>(name, doc, in: state)
            // Registered before its members: their arguments may be of this class.
            state.objectClasses[ObjectIdentifier(type)] = cls
            if let superclass {
                clua_setsuperclass(cls.pointer, state.objectClass(superclass).pointer)
                superclass.luaClass.inherit(cls)
            }
            for member in members() { member.declare(in: cls) }
            cls.becomePartOfState()
            return cls
        }
        inherit = { subclass in
            superclass?.luaClass.inherit(subclass)
            let cls = LuaClass<Object>(membersOf: subclass)
            for member in members() where !(member is Static<Object>) { member.declare(in: cls) }
        }
    }
}
