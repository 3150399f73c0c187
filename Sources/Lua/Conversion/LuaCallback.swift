/// A Lua function with Swift types, called like a closure: `let accepts: LuaCallback<Bool, Int64>`, `try accepts(40)`.
///
/// A call throws the error that the function raises, and an error for a result of another type. It retains the
/// function.
public struct LuaCallback<Result, each Argument> {
    /// The Lua function.
    public let function: LuaFunction

    /// Creates a callback for a function.
    package init(_ function: LuaFunction) { self.function = function }
}

// Conforms in an extension for faster start-up, like ``LuaEither``.
extension LuaCallback: LuaRepresentable where Result: LuaRepresentable, repeat each Argument: LuaRepresentable {
    /// Calls the function and converts its first result.
    public func callAsFunction(_ argument: repeat each Argument) throws(LuaError) -> Result {
        var arguments: [LuaValue] = []
        for argument in repeat each argument { arguments.append(argument.luaValue(in: function.state)) }
        let value = try function.call(arguments: arguments).first ?? .nil
        do { return try Result(lua: value) } catch {
            let place = function.place
            throw LuaError(
                .runtime, "the result of the function at \(place.source):\(place.line): \(error.message)")
        }
    }

    public static var luaType: LuaType {
        var names = ""
        for type in repeat (each Argument).self { names += (names.isEmpty ? "" : ", ") + type.luaType.name }
        let result = Result.self == LuaNothing.self ? "" : " → \(Result.luaType.name)"
        return .callback("(\(names))\(result)")
    }

    public init(lua value: LuaValue) throws(LuaMismatch) { self.init(try LuaFunction(lua: value)) }

    public func luaValue(in state: LuaState) -> LuaValue { .function(function) }
}

/// The result type of a callback without a result; results are ignored.
public struct LuaNothing: LuaRepresentable {
    /// Creates the value.
    public init() {}

    public static var luaType: LuaType { .optional(.any) }
    public static var luaResults: [LuaType] { [] }
    public init(lua value: LuaValue) throws(LuaMismatch) {}
    public func luaValue(in state: LuaState) -> LuaValue { .nil }
    public func push(as call: LuaCall) -> LuaResults { .none }
}

/// All remaining arguments, as the last parameter of a function, or any number of results.
public struct LuaVariadic<Element>: Sequence {
    /// The arguments, in order.
    public let values: [Element]

    /// Creates the arguments.
    @inlinable
    public init(_ values: [Element]) { self.values = values }

    @inlinable
    public func makeIterator() -> IndexingIterator<[Element]> { values.makeIterator() }
}

// Conforms in an extension for faster start-up, like ``LuaEither``.
extension LuaVariadic: LuaRepresentable where Element: LuaRepresentable {
    public static var luaType: LuaType { .variadic(Element.luaType) }

    public init(lua value: LuaValue) throws(LuaMismatch) { self.init(try [Element](lua: value)) }

    public func luaValue(in state: LuaState) -> LuaValue { values.luaValue(in: state) }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> LuaVariadic {
        guard position < call.count else { return LuaVariadic([]) }
        try call.admitArguments(from: position)
        return LuaVariadic(
            try (position..<call.count).map { (each) throws(LuaMismatch) in try Element.read(call, at: each) })
    }

    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        try call.returns(values: values.map { $0.luaValue(in: call.state) })
    }
}

/// For the functions of a ``LuaEngine``, whose arguments are decodable.
extension LuaVariadic: Decodable where Element: Decodable {
    public init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }
}

/// Any number of arguments of a decodable type, in the functions of a ``LuaEngine``.
protocol DecodableVariadic {
    static var elementType: LuaType { get }

    /// Decodes all arguments from a position on, within the limits of one conversion.
    static func decode(_ call: LuaCall, from position: Int) throws -> Self
}

extension LuaVariadic: DecodableVariadic where Element: Decodable {
    static var elementType: LuaType { LuaType(codable: Element.self) }

    static func decode(_ call: LuaCall, from position: Int) throws -> LuaVariadic {
        guard position < call.count else { return LuaVariadic([]) }
        try call.admitArguments(from: position)
        let session = DecodingSession(call.state)
        return LuaVariadic(
            try (position..<call.count).map { try CodableArguments.decode(Element.self, call, at: $0, in: session) })
    }
}

extension LuaVariadic: Sendable where Element: Sendable {}

/// An argument of either of two types: `LuaEither<String, LuaFunction>`.
public enum LuaEither<First, Second> {
    /// A value of the first type, tried first.
    case first(First)
    /// A value of the second type.
    case second(Second)
}

// Conforms in an extension, like arrays: the runtime then creates the type without searching all conformances of the
// program, which would delay each start.
extension LuaEither: LuaRepresentable where First: LuaRepresentable, Second: LuaRepresentable {
    public static var luaType: LuaType { .union([First.luaType.wrapped, Second.luaType.wrapped]) }

    @inlinable
    public init(lua value: LuaValue) throws(LuaMismatch) {
        if let first = try? First(lua: value) {
            self = .first(first)
        } else if let second = try? Second(lua: value) {
            self = .second(second)
        } else {
            throw LuaMismatch(Self.luaType, value)
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        switch self {
        case .first(let value): value.luaValue(in: state)
        case .second(let value): value.luaValue(in: state)
        }
    }
}
