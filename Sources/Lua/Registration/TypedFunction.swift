/// A Swift function for scripts, declared by the types of its closure.
package struct TypedFunction: Sendable {
    /// The effect of a call.
    package enum Body: Sendable {
        case returns(@Sendable (LuaCall) throws -> LuaResults)
        /// The script waits for the operation.
        case waits(@Sendable (LuaCall) throws -> LuaOperation)
    }

    package let declaration: LuaFunctionDeclaration
    package let body: Body

    /// A function that returns immediately; nil pushes no result.
    package init<each Argument: Decodable & Sendable, Result: Sendable>(
        _ name: String, _ parameters: [String], _ documentation: String, example: String,
        results: ResultCoding<Result>, calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        declaration = Self.declaration(
            name, parameters, documentation, example, results.types, repeat (each Argument).self)
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
        return LuaFunctionDeclaration(name, list, returns: results, documentation, example: example)
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
        do { return try LuaDecoder().decode(type, from: call.value(position)) } catch let error as DecodingError {
            throw call.refuse(position, Self.text(of: error))
        }
    }

    /// `lines[2].price: number expected, got string`.
    private static func text(of error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let its), .valueNotFound(_, let its), .keyNotFound(_, let its), .dataCorrupted(let its):
            context = its
        @unknown default: return "\(error)"
        }
        var path = ""
        for key in context.codingPath {
            if let position = key.intValue {
                path += "[\(position)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return (path.isEmpty ? "" : path + ": ") + context.debugDescription
    }
}
