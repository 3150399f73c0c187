/// Functions declared by their Swift types.
extension LuaModule {
    /// A function by the types of its closure: one argument for each name.
    public func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: [String], _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        function(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self),
            returns: TypedArguments.results(Result.self), documentation, example: example
        ) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A function without results.
    public func function<each Argument: LuaRepresentable>(
        _ name: String, _ parameters: [String], _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Void
    ) {
        function(name, parameters, documentation, example: example) { (argument: repeat each Argument) in
            try body(repeat each argument)
            return LuaNothing()
        }
    }
}
