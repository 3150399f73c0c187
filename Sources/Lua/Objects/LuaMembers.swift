/// A member of a declared class: ``Property``, ``Method``, ``Static`` or ``Operator``.
public protocol LuaMember<Object> {
    /// The class whose member it is.
    associatedtype Object: AnyObject

    /// Declares the member in a state's class.
    func declare(in cls: LuaClass<Object>)
}

/// Collects the members of a class.
@resultBuilder
public enum LuaMembers<Object: AnyObject> {
    /// A member.
    public static func buildExpression<Member: LuaMember>(
        _ member: Member
    ) -> [any LuaMember<Object>] where Member.Object == Object { [member] }

    /// Members in order.
    public static func buildBlock(_ members: [any LuaMember<Object>]...) -> [any LuaMember<Object>] {
        members.flatMap(\.self)
    }

    /// Members under a condition.
    public static func buildOptional(_ members: [any LuaMember<Object>]?) -> [any LuaMember<Object>] { members ?? [] }
    /// Members of one branch.
    public static func buildEither(first: [any LuaMember<Object>]) -> [any LuaMember<Object>] { first }
    /// Members of the other branch.
    public static func buildEither(second: [any LuaMember<Object>]) -> [any LuaMember<Object>] { second }
    /// Members made in a loop.
    public static func buildArray(_ members: [[any LuaMember<Object>]]) -> [any LuaMember<Object>] {
        members.flatMap(\.self)
    }
}
