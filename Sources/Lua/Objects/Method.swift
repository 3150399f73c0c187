/// A method of a declared class: scripts call it with a colon. The closure gets the object, then the arguments.
///
/// An argument's type is the closure's: an optional may be left out. A thrown error is raised in the script, and comes back to
/// Swift as itself.
public struct Method<Object: AnyObject>: LuaMember {
    fileprivate let add: (LuaClass<Object>) -> Void

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

extension Method where Object: Sendable {
    /// A method for whose end the script waits, while other scripts go on: its closure is async, and called in a task of its
    /// own. It needs a ``LuaEngine`` or a `ScriptHost`.
    public init<each Argument: LuaRepresentable & Sendable, Result: LuaRepresentable & Sendable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (Object, repeat each Argument) async throws -> Result
    ) {
        add = { cls in
            cls.method(
                name, TypedArguments.parameters(arguments, repeat (each Argument).self), returns: Result.luaResults,
                doc, example: example
            ) { object, call in
                var reader = ArgumentReader(call)
                let arguments = (repeat try reader.next((each Argument).self))
                return try call.waits(for: {
                    let result = try await body(object, repeat each arguments)
                    return { try result.push(as: $0) }
                })
            }
        }
    }
}
