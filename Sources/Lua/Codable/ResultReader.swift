/// Decodes the results of a run in order, each with its own type.
struct ResultReader {
    private let values: [LuaValue]
    private var position = 0

    /// - Parameters:
    ///   - values: the results, those beyond one too many left out.
    ///   - count: the number of types.
    /// - Throws: ``LuaError`` for another number of results: none is missing or dropped in silence.
    init(_ values: [LuaValue], count: Int) throws(LuaError) {
        guard values.count == count else {
            let returned =
                values.count > count
                ? "more than \(count) results" : values.count == 1 ? "1 result" : "\(values.count) results"
            throw LuaError(
                .runtime, "the script returned \(returned), not \(count): return a value, or nil, for each")
        }
        self.values = values
    }

    mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        do { return try LuaDecoder().decode(type, from: values[position]) } catch let error as DecodingError {
            throw error.within(ResultPosition(intValue: position + 1))
        }
    }
}

/// The position of a result in a coding path, counted from 1: `result 2`.
private struct ResultPosition: CodingKey {
    let position: Int

    init(intValue: Int) { position = intValue }
    init?(stringValue: String) { return nil }

    var intValue: Int? { nil }
    var stringValue: String { "result \(position)" }
}

extension DecodingError {
    /// The error with a key before its path.
    fileprivate func within(_ key: any CodingKey) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath,
                debugDescription: "\(key.stringValue): \(context.debugDescription)",
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
