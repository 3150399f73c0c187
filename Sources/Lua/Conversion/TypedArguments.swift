/// Parameters by their Swift types, and arguments in order.
enum TypedArguments {
    /// Pairs names with types; parameters without a name are numbered.
    static func parameters<each Argument: LuaRepresentable>(
        _ arguments: LuaArguments, _ type: repeat (each Argument).Type
    ) -> [LuaParameter] {
        var parameters: [LuaParameter] = []
        for type in repeat each type {
            let position = parameters.count
            let (name, documentation) =
                position < arguments.names.count ? arguments.names[position] : ("argument\(position + 1)", "")
            parameters.append(LuaParameter(name, type.luaType, documentation))
        }
        return parameters
    }

    /// The types of the results.
    static func results<each Result: LuaRepresentable>(_ type: repeat (each Result).Type) -> [LuaType] {
        var types: [LuaType] = []
        for type in repeat each type { types.append(type.luaType) }
        return types
    }

    /// Pushes results, the elements of a tuple.
    static func push<each Result: LuaRepresentable>(
        _ result: repeat each Result, as call: LuaCall
    ) -> LuaResults {
        var results = LuaResults.none
        for result in repeat each result { results = results + result.push(as: call) }
        return results
    }
}

/// Reads the arguments of a call one after the other.
struct ArgumentReader {
    let call: LuaCall
    private var position = 0

    init(_ call: LuaCall) { self.call = call }

    mutating func next<Value: LuaRepresentable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        return try type.read(call, at: position)
    }
}
