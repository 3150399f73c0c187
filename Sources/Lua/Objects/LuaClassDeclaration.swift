internal import CLuaShim

/// A class as scripts see it: its name, its documentation and its members.
public struct LuaClassDeclaration {
    /// The name, for errors, help and `tostring`.
    public let name: String

    let type: ObjectIdentifier
    /// Makes the class in a state, with its members and those of its superclasses.
    let declare: (LuaState) -> any DeclaredClass
    /// Adds the members to a subclass.
    private let inherit: (any DeclaredClass) -> Void

    /// Declares a class.
    ///
    /// - Parameters:
    ///   - type: the Swift class.
    ///   - name: its name in Lua; nil for the type's own.
    ///   - doc: what it is, for help.
    ///   - superclass: the class whose members it has; its objects are accepted where the superclass's are.
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
            // Known before its members are: they may have arguments of the class.
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
