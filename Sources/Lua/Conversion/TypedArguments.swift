/// Declares parameters by their Swift types, and reads arguments in order.
@usableFromInline
enum TypedArguments {
    /// Pairs names with types; parameters without a name are numbered.
    @usableFromInline
    static func parameters<each Argument: LuaRepresentable>(
        _ arguments: LuaArguments, _ type: repeat (each Argument).Type
    ) -> [LuaParameter] {
        var parameters: [LuaParameter] = []
        for type in repeat each type {
            let position = parameters.count
            let (name, argument) =
                position < arguments.all.count ? arguments.all[position] : ("argument\(position + 1)", "")
            parameters.append(LuaParameter(name, argument.refine(type.luaType), argument.documentation))
        }
        return parameters
    }

    /// The types of the results.
    @usableFromInline
    static func results<each Result: LuaRepresentable>(_ type: repeat (each Result).Type) -> [LuaType] {
        var types: [LuaType] = []
        for type in repeat each type { types += type.luaResults }
        return types
    }

    /// Pushes results: the elements of a tuple.
    @inlinable
    static func push<each Result: LuaRepresentable>(
        _ result: repeat each Result, as call: LuaCall
    ) throws -> LuaResults {
        var results = call.returnsNothing()
        for result in repeat each result { results = results + (try result.push(as: call)) }
        return results
    }
}

/// Reads the arguments of a call in order.
@usableFromInline
struct ArgumentReader {
    @usableFromInline let call: LuaCall
    @usableFromInline var position = 0

    @inlinable
    init(_ call: LuaCall) { self.call = call }

    @inlinable
    mutating func next<Value: LuaRepresentable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        return try type.read(call, at: position)
    }
}
