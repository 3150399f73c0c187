/// A method of a declared class, called with a colon. The closure receives the object, then the arguments.
///
/// The closure's types are those of the arguments: an optional one may be omitted. A thrown error is raised in the
/// script, and returns to Swift unchanged.
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
    /// An async method: the script waits for it, while other scripts continue. The closure is called in a separate
    /// task. Requires a ``LuaEngine`` or a `ScriptHost`.
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
