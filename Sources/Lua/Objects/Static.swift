/// A static function of a class: `Lamp.named("Study")`. Subclasses do not inherit it.
public struct Static<Object: AnyObject>: LuaMember {
    private let add: (LuaClass<Object>) -> Void

    /// A function with a result.
    public init<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        add = { $0.function(name, arguments, doc, example: example, calling: body) }
    }

    /// A function without results, or with several: the elements of a tuple.
    public init<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        add = { $0.function(name, arguments, doc, example: example, calling: body) }
    }

    public func declare(in cls: LuaClass<Object>) { add(cls) }
}
