/// A member of a declared class: ``Property``, ``Method``, ``Static`` or ``Operator``.
public protocol LuaMember<Object> {
    /// The class of the member.
    associatedtype Object: AnyObject

    /// Declares the member in a state's class.
    func declare(in cls: LuaClass<Object>)
}

/// Builds the members of a class. Inlinable, so that arrays of members are not generic where the class is declared.
@resultBuilder
public enum LuaMembers<Object: AnyObject> {
    /// A member.
    @inlinable
    public static func buildExpression<Member: LuaMember>(
        _ member: Member
    ) -> [any LuaMember<Object>] where Member.Object == Object { [member] }

    /// Members in order.
    @inlinable
    public static func buildBlock(_ members: [any LuaMember<Object>]...) -> [any LuaMember<Object>] {
        buildArray(members)
    }

    /// Members under a condition.
    @inlinable
    public static func buildOptional(_ members: [any LuaMember<Object>]?) -> [any LuaMember<Object>] { members ?? [] }
    /// Members of one branch.
    @inlinable
    public static func buildEither(first: [any LuaMember<Object>]) -> [any LuaMember<Object>] { first }
    /// Members of the other branch.
    @inlinable
    public static func buildEither(second: [any LuaMember<Object>]) -> [any LuaMember<Object>] { second }
    /// Members made in a loop.
    @inlinable
    public static func buildArray(_ members: [[any LuaMember<Object>]]) -> [any LuaMember<Object>] {
        var all: [any LuaMember<Object>] = []
        for part in members { all.append(contentsOf: part) }
        return all
    }
}
