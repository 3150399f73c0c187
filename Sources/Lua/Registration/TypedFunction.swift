/// A Swift function for scripts, declared by the types of its closure.
package struct TypedFunction: Sendable {
    /// The effect of a call.
    package enum Body: Sendable {
        case returns(@Sendable (LuaCall) throws -> LuaResults)
        /// The script waits for the operation.
        case waits(@Sendable (LuaCall) throws -> LuaOperation)

        /// Performs a call.
        package func invoke(_ call: LuaCall) throws -> LuaResults {
            switch self {
            case .returns(let body): try body(call)
            case .waits(let begin): try call.waits(for: begin(call))
            }
        }
    }

    package let declaration: LuaFunctionDeclaration
    package let body: Body
    /// What the declaration says that its closure contradicts; nil for nothing.
    package let contradiction: String?

    /// A function that returns immediately; nil pushes no result.
    package init<each Argument: Decodable & Sendable, Result: Sendable>(
        _ name: String, _ parameters: [String], _ documentation: String, example: String,
        results: ResultCoding<Result>, calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        declaration = Self.declaration(
            name, parameters, documentation, example, results.types, repeat (each Argument).self)
        contradiction = TypedArguments.contradiction(in: name, parameters, takes: declaration.parameters.count)
        self.body = .returns { call in
            var reader = CodableArguments(call)
            return try results.push(body(repeat try reader.next((each Argument).self)), call)
        }
    }

    /// An async function: the script waits for it.
    package init<each Argument: Decodable & Sendable, Result: Sendable>(
        _ name: String, _ parameters: [String], _ documentation: String, example: String,
        results: ResultCoding<Result>, awaiting body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) {
        declaration = Self.declaration(
            name, parameters, documentation, example, results.types, repeat (each Argument).self)
        contradiction = TypedArguments.contradiction(in: name, parameters, takes: declaration.parameters.count)
        self.body = .waits { call in
            var reader = CodableArguments(call)
            let arguments = (repeat try reader.next((each Argument).self))
            return {
                let result = try await body(repeat each arguments)
                return { try results.push(result, $0) }
            }
        }
    }

    private static func declaration<each Argument: Decodable>(
        _ name: String, _ parameters: [String], _ documentation: String, _ example: String, _ results: [LuaType],
        _ type: repeat (each Argument).Type
    ) -> LuaFunctionDeclaration {
        var list: [LuaParameter] = []
        for type in repeat each type {
            let position = list.count
            let name = position < parameters.count ? parameters[position] : "argument\(position + 1)"
            list.append(LuaParameter(name, LuaType(codable: type)))
        }
        return LuaFunctionDeclaration(name, list, returns: results, doc: documentation, example: example)
    }
}

/// Declares and pushes the results of a function.
package struct ResultCoding<Result: Sendable>: Sendable {
    let types: [LuaType]
    let push: @Sendable (Result, LuaCall) throws -> LuaResults
}

extension ResultCoding where Result == Void {
    package static var nothing: ResultCoding { ResultCoding(types: []) { _, call in call.returnsNothing() } }
}

extension ResultCoding where Result: Encodable {
    /// A ``LuaRepresentable`` value, or one converted by ``LuaEncoder``.
    package static var value: ResultCoding {
        ResultCoding(types: [LuaType(codable: Result.self)]) { result, call in
            if let result = result as? any LuaRepresentable { return try result.push(as: call) }
            return call.returns(try LuaEncoder(call.state).encode(result))
        }
    }
}

/// Reads the arguments of a call in order, as ``LuaRepresentable`` values or by ``LuaDecoder``.
struct CodableArguments {
    private let call: LuaCall
    private var position = 0

    init(_ call: LuaCall) { self.call = call }

    mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        if let representable = type as? any LuaRepresentable.Type,
            let value = try representable.read(call, at: position) as? Value
        {
            return value
        }
        if let variadic = type as? any DecodableVariadic.Type,
            let value = try variadic.decode(call, from: position) as? Value
        {
            return value
        }
        return try Self.decode(type, call, at: position, in: DecodingSession(call.state))
    }

    /// Decodes an argument.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ call: LuaCall, at position: Int, in session: DecodingSession
    ) throws -> Value {
        do {
            return try LuaDecoder().decode(type, from: call.value(position), in: session)
        } catch let error as DecodingError { throw call.refuse(position, text(of: error)) }
    }

    /// `lines[2].price: number expected, got string`: the script counts positions from 1.
    private static func text(of error: DecodingError) -> String {
        let path = error.context.codingPath.map { key in
            key is PathKey ? key.intValue.map { PathKey(intValue: $0 + 1) } ?? key : key
        }.text
        return (path.isEmpty ? "" : path + ": ") + error.context.debugDescription
    }
}

/// Declares parameters by their Swift types, and reads arguments in order.
@usableFromInline
enum TypedArguments {
    /// Pairs names with types; without any names the parameters are numbered.
    ///
    /// - Precondition: there are as many names as types, or none.
    @usableFromInline
    static func parameters<each Argument: LuaRepresentable>(
        _ arguments: LuaArguments, of name: String, _ type: repeat (each Argument).Type
    ) -> [LuaParameter] {
        let parameters = parameters(numbered: arguments, repeat each type)
        let contradiction = contradiction(in: name, arguments.all.map(\.name), takes: parameters.count)
        precondition(contradiction == nil, contradiction ?? "")
        return parameters
    }

    /// Pairs names with types; parameters without a name are numbered.
    static func parameters<each Argument: LuaRepresentable>(
        numbered arguments: LuaArguments, _ type: repeat (each Argument).Type
    ) -> [LuaParameter] {
        var parameters: [LuaParameter] = []
        for type in repeat each type {
            let position = parameters.count
            let (name, argument) =
                position < arguments.all.count ? arguments.all[position] : ("argument\(position + 1)", "")
            let contradiction = argument.contradiction(of: type.luaType)
            precondition(
                contradiction == nil,
                "the argument \(name) is declared as \(contradiction ?? ""), and its closure takes \(type.luaType.name)"
            )
            parameters.append(LuaParameter(name, argument.refine(type.luaType), argument.documentation))
        }
        return parameters
    }

    /// What is wrong with the names of a function's parameters: there are more or fewer than its closure takes.
    static func contradiction(in name: String, _ names: [String], takes count: Int) -> String? {
        guard !names.isEmpty, names.count != count else { return nil }
        return "\(name) names \(names.count.counted("parameter")) (\(names.joined(separator: ", "))), "
            + "and its closure takes \(count == 0 ? "none" : "\(count)")"
    }

    /// The declared results of a function.
    ///
    /// - Precondition: they are as many as those that its closure gives, and of their types.
    @usableFromInline
    static func results(_ declared: [LuaType], of name: String, _ given: [LuaType]) -> [LuaType] {
        let contradiction = contradiction(in: name, declared, gives: given)
        precondition(contradiction == nil, contradiction ?? "")
        return declared
    }

    /// What is wrong with the declared results of a function: there are more or fewer than its closure gives, or one is of
    /// another type.
    private static func contradiction(in name: String, _ declared: [LuaType], gives given: [LuaType]) -> String? {
        for position in 0..<max(declared.count, given.count) {
            let (first, second) = (declared.result(position), given.result(position))
            guard let first, let second else {
                // Any number of results may be none.
                if (first ?? second)?.isVariadic ?? true { continue }
                return "\(name) declares \(declared.count.counted("result")), and its closure gives "
                    + "\(given.isEmpty ? "none" : "\(given.count)")"
            }
            if first.agrees(with: second) { continue }
            return "the result \(position + 1) of \(name) is declared as \(first.name), and its closure gives "
                + "\(second.name)"
        }
        return nil
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
    ) throws(LuaError) -> LuaResults {
        var results = call.returnsNothing()
        for result in repeat each result { results = results + (try result.push(as: call)) }
        return results
    }
}

extension [LuaType] {
    /// The type of a result; of each further one, if the last type is of any number of them.
    fileprivate func result(_ position: Int) -> LuaType? {
        position < count ? self[position] : last.flatMap { $0.isVariadic ? $0 : nil }
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
    mutating func next<Value: LuaRepresentable>(_ type: Value.Type) throws(LuaMismatch) -> Value {
        defer { position += 1 }
        return try type.read(call, at: position)
    }
}

/// Members declared by their Swift types. Inlinable, so that a binding reads its arguments without generics: without
/// specialisation, writing and reading an archive of a script's objects takes 1.1 to 1.2 times as long.
extension LuaClass {
    /// A property of a representable type; read-only without a setter.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: the declared type, which may be more specific than the Swift type.
    ///   - doc: the documentation for help.
    ///   - get: gives the value.
    ///   - set: takes a new one.
    @inlinable
    package func property<Value: LuaRepresentable>(
        _ name: String, _ type: LuaType = Value.luaType, doc: String, get: @escaping (T) throws -> Value,
        set: ((T, Value) throws -> Void)? = nil
    ) {
        var setter: ((T, LuaCall) throws -> Void)?
        if let set { setter = { object, call in try set(object, try Value.read(call, at: 0)) } }
        property(name, type, doc: doc, set: setter) { object, call in try get(object).push(as: call) }
    }

    /// A method with the types of its closure: the receiver, then one argument for each name.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - parameters: the names of the arguments, with their documentation.
    ///   - results: the declared results, which may be more specific than the Swift type, and do not contradict it.
    ///   - doc: the documentation for help.
    ///   - example: a script that calls it.
    ///   - body: the method.
    @inlinable
    package func method<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], returns results: [LuaType] = Result.luaResults,
        doc: String = "", example: String = "", calling body: @escaping (T, repeat each Argument) throws -> Result
    ) {
        method(
            name, TypedArguments.parameters(parameters, of: name, repeat (each Argument).self),
            returns: TypedArguments.results(results, of: name, Result.luaResults), doc: doc, example: example
        ) { object, call in
            var reader = ArgumentReader(call)
            return try body(object, repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A method with no results, or with several: the elements of a tuple.
    @_disfavoredOverload
    @inlinable
    package func method<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (T, repeat each Argument) throws -> (repeat each Result)
    ) {
        method(
            name, TypedArguments.parameters(parameters, of: name, repeat (each Argument).self),
            returns: TypedArguments.results(repeat (each Result).self), doc: doc, example: example
        ) { object, call in
            var reader = ArgumentReader(call)
            let results = try body(object, repeat reader.next((each Argument).self))
            return try TypedArguments.push(repeat each results, as: call)
        }
    }
}

/// Functions declared by their Swift types.
extension LuaModule {
    /// A function with the types of its closure: one argument for each name. The declared results may be more specific
    /// than the Swift type: an array of texts for a ``LuaTable``, a class for a ``LuaValue``.
    ///
    /// - Precondition: there are as many names as the closure has arguments, or none, and the declared results are not of
    ///   another number or type than its own.
    @inlinable
    public func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], returns results: [LuaType] = Result.luaResults,
        doc: String = "", example: String = "", calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        function(
            name, TypedArguments.parameters(parameters, of: name, repeat (each Argument).self),
            returns: TypedArguments.results(results, of: name, Result.luaResults), doc: doc, example: example
        ) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }

    /// A function with no results, or with several: the elements of a tuple.
    @_disfavoredOverload
    @inlinable
    public func function<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        function(
            name, TypedArguments.parameters(parameters, of: name, repeat (each Argument).self),
            returns: TypedArguments.results(repeat (each Result).self), doc: doc, example: example
        ) { call in
            var reader = ArgumentReader(call)
            let results = try body(repeat reader.next((each Argument).self))
            return try TypedArguments.push(repeat each results, as: call)
        }
    }

    /// Makes the module callable, `date(…)`, with the types of a closure.
    @inlinable
    package func callable<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ parameters: LuaArguments, doc: String, example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        callable(
            TypedArguments.parameters(parameters, of: "a call of the module", repeat (each Argument).self),
            returns: Result.luaResults,
            doc: doc, example: example
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
        let parameters = TypedArguments.parameters(parameters, of: name, repeat (each Argument).self)
        return makeFunction(LuaFunctionDeclaration(name, parameters, returns: Result.luaResults)) { call in
            var reader = ArgumentReader(call)
            return try body(repeat reader.next((each Argument).self)).push(as: call)
        }
    }
}
