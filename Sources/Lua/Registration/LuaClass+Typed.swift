/// Members declared by their Swift types.
extension LuaClass {
    /// A property of a representable type; read-only without a setter.
    public func property<Value: LuaRepresentable>(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Value,
        set: ((T, Value) throws -> Void)? = nil
    ) {
        var setter: ((T, LuaCall) throws -> Void)?
        if let set { setter = { object, call in try set(object, try Value.read(call, at: 0)) } }
        property(name, Value.luaType, documentation, set: setter) { object, call in try get(object).push(as: call) }
    }

    /// A number property.
    public func number(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Double,
        set: ((T, Double) throws -> Void)? = nil
    ) {
        property(name, documentation, get: get, set: set)
    }

    /// A boolean property.
    public func boolean(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Bool,
        set: ((T, Bool) throws -> Void)? = nil
    ) {
        property(name, documentation, get: get, set: set)
    }

    /// A method by the types of its closure: the receiver, then one argument for each name.
    public func method<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (T, repeat each Argument) throws -> Result
    ) {
        method(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self),
            returns: [Result.luaType], documentation, example: example
        ) { object, call in
            var reader = ArgumentReader(call)
            return try body(object, repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A method of no results, or of several: the elements of a tuple.
    public func method<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (T, repeat each Argument) throws -> (repeat each Result)
    ) {
        method(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self),
            returns: TypedArguments.results(repeat (each Result).self), documentation, example: example
        ) { object, call in
            var reader = ArgumentReader(call)
            let results = try body(object, repeat reader.next((each Argument).self))
            return TypedArguments.push(repeat each results, as: call)
        }
    }
}
