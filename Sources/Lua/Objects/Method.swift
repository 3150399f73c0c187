/// A method of a declared class: scripts call it with a colon. The closure gets the object, then the arguments.
///
/// An argument's type is the closure's: an optional may be left out. A thrown error is raised in the script, and comes back to
/// Swift as itself.
public struct Method<Object: AnyObject>: LuaMember {
    private let add: (LuaClass<Object>) -> Void

    /// A method with a result.
    public init<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (Object, repeat each Argument) throws -> Result
    ) {
        add = { $0.method(name, arguments, doc, example: example, calling: body) }
    }

    /// A method without results, or with several: the elements of a tuple.
    public init<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (Object, repeat each Argument) throws -> (repeat each Result)
    ) {
        add = { $0.method(name, arguments, doc, example: example, calling: body) }
    }

    public func declare(in cls: LuaClass<Object>) { add(cls) }
}
