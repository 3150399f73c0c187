/// Functions declared by their Swift types.
extension LuaModule {
    /// A function by the types of its closure: one argument for each name.
    public func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        function(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self),
            returns: [Result.luaType], documentation, example: example
        ) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A function of no results, or of several: the elements of a tuple.
    public func function<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        function(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self),
            returns: TypedArguments.results(repeat (each Result).self), documentation, example: example
        ) { call in
            var reader = ArgumentReader(call)
            let results = try body(repeat reader.next((each Argument).self))
            return TypedArguments.push(repeat each results, as: call)
        }
    }
}
