/// Static functions of a class: `Lamp.named("Study")`. Their table becomes a global by
/// `state.globals["Lamp"] = .table(lamps.table)`.
extension LuaClass {
    /// A static function: arguments by position from 0; `call.returns(object, cls)` returns a new object.
    public func function(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], _ documentation: String,
        example: String = "", body: @escaping (LuaCall) throws -> LuaResults
    ) {
        statics.function(name, parameters, returns: results, documentation, example: example, body: body)
    }

    /// A static function with the types of its closure, which returns an object of the class.
    public func constructor<each Argument: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> T
    ) {
        let (pointer, encode) = (pointer, encode)
        function(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self), returns: [.object(self.name)],
            documentation, example: example
        ) { call in
            var reader = ArgumentReader(call)
            encode(try body(repeat reader.next((each Argument).self)), pointer, call.L)
            return .one
        }
    }

    /// A static function with the types of its closure.
    public func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        statics.function(name, parameters, documentation, example: example, calling: body)
    }

    /// A static function with no results, or with several: the elements of a tuple.
    public func function<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        statics.function(name, parameters, documentation, example: example, calling: body)
    }
}
