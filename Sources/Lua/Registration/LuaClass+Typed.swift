/// Members declared by their Swift types. Inlinable, so that a binding reads its arguments without generics: without
/// specialisation, writing and reading an archive of a script's objects takes 1.1 to 1.2 times as long.
extension LuaClass {
    /// A property of a representable type; read-only without a setter.
    @inlinable
    public func property<Value: LuaRepresentable>(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Value,
        set: ((T, Value) throws -> Void)? = nil
    ) {
        property(name, Value.luaType, documentation, get: get, set: set)
    }

    /// A property whose declared type is more specific than its Swift type.
    @inlinable
    package func property<Value: LuaRepresentable>(
        _ name: String, _ type: LuaType, _ documentation: String, get: @escaping (T) throws -> Value,
        set: ((T, Value) throws -> Void)? = nil
    ) {
        var setter: ((T, LuaCall) throws -> Void)?
        if let set { setter = { object, call in try set(object, try Value.read(call, at: 0)) } }
        property(name, type, documentation, set: setter) { object, call in try get(object).push(as: call) }
    }

    /// A number property.
    @inlinable
    public func number(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Double,
        set: ((T, Double) throws -> Void)? = nil
    ) {
        property(name, documentation, get: get, set: set)
    }

    /// A boolean property.
    @inlinable
    public func boolean(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Bool,
        set: ((T, Bool) throws -> Void)? = nil
    ) {
        property(name, documentation, get: get, set: set)
    }

    /// A method with the types of its closure: the receiver, then one argument for each name.
    @inlinable
    public func method<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, _ documentation: String, example: String = "",
        calling body: @escaping (T, repeat each Argument) throws -> Result
    ) {
        method(name, parameters, returns: Result.luaResults, documentation, example: example, calling: body)
    }

    /// A method whose declared results are more specific than its Swift type.
    @inlinable
    package func method<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments, returns results: [LuaType], _ documentation: String,
        example: String = "", calling body: @escaping (T, repeat each Argument) throws -> Result
    ) {
        method(
            name, TypedArguments.parameters(parameters, repeat (each Argument).self), returns: results, documentation,
            example: example
        ) { object, call in
            var reader = ArgumentReader(call)
            return try body(object, repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A method with no results, or with several: the elements of a tuple.
    @inlinable
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
            return try TypedArguments.push(repeat each results, as: call)
        }
    }
}
