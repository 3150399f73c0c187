/// Functions declared by their Swift types.
extension LuaModule {
    /// A function with the types of its closure: one argument for each name.
    @inlinable
    public func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        function(name, parameters, returns: Result.luaResults, documentation, example: example, calling: body)
    }

    /// A function whose declared results are more specific than its Swift type.
    @inlinable
    package func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, returns results: [LuaType], _ documentation: String,
        example: String = "", calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        function(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self), returns: results, documentation,
            example: example
        ) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A function with no results, or with several: the elements of a tuple.
    @inlinable
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
            return try TypedArguments.push(repeat each results, as: call)
        }
    }

    /// Makes the module callable, `date(…)`, with the types of a closure.
    @inlinable
    public func callable<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        callable(
            TypedArguments.parameters(parameters, repeat (each Argument).self), returns: Result.luaResults,
            documentation, example: example
        ) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }
}

extension LuaState {
    /// A function with the types of its closure, which lives as long as the state.
    @inlinable
    package func makeFunction<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, calling body: @escaping (repeat each Argument) throws -> Result
    ) -> LuaFunction {
        let parameters = TypedArguments.parameters(parameters, repeat (each Argument).self)
        return makeFunction(LuaFunctionDeclaration(name, parameters, returns: Result.luaResults)) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }
}
