/// A member of a declared class: ``LuaProperty``, ``LuaMethod``, ``LuaStatic``, ``LuaOperator`` or
/// ``LuaDynamicMembers``.
public class LuaMember<Object: AnyObject> {
    /// Declares the member in a state's class.
    let declare: (LuaClass<Object>) -> Void

    init(declare: @escaping (LuaClass<Object>) -> Void) { self.declare = declare }
}

/// Builds the members of a class. Inlinable, so that arrays of members are not generic where the class is declared.
@resultBuilder
public enum LuaMembers<Object: AnyObject> {
    /// A member.
    @inlinable
    public static func buildExpression(_ member: LuaMember<Object>) -> [LuaMember<Object>] { [member] }

    /// Members in order.
    @inlinable
    public static func buildBlock(_ members: [LuaMember<Object>]...) -> [LuaMember<Object>] {
        buildArray(members)
    }

    /// Members under a condition.
    @inlinable
    public static func buildOptional(_ members: [LuaMember<Object>]?) -> [LuaMember<Object>] { members ?? [] }
    /// Members of one branch.
    @inlinable
    public static func buildEither(first: [LuaMember<Object>]) -> [LuaMember<Object>] { first }
    /// Members of the other branch.
    @inlinable
    public static func buildEither(second: [LuaMember<Object>]) -> [LuaMember<Object>] { second }
    /// Members made in a loop.
    @inlinable
    public static func buildArray(_ members: [[LuaMember<Object>]]) -> [LuaMember<Object>] {
        var all: [LuaMember<Object>] = []
        for part in members { all.append(contentsOf: part) }
        return all
    }
}

/// A property of a declared class. Scripts cannot assign it without a setter.
public final class LuaProperty<Object: AnyObject>: LuaMember<Object> {
    /// Creates a read-only property from its key path.
    public convenience init<Value: LuaRepresentable>(_ name: String, _ path: KeyPath<Object, Value>, doc: String = "") {
        self.init(name, doc: doc, get: { $0[keyPath: path] })
    }

    /// Creates a read-write property from its key path.
    public convenience init<Value: LuaRepresentable>(
        _ name: String, _ path: ReferenceWritableKeyPath<Object, Value>, doc: String = ""
    ) {
        self.init(name, doc: doc, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    /// Creates a property from its functions. An error thrown by `set` is raised by the assignment.
    public convenience init<Value: LuaRepresentable>(
        _ name: String, doc: String = "", get: @escaping (Object) throws -> Value,
        set: ((Object, Value) throws -> Void)? = nil
    ) {
        self.init { $0.property(name, doc: doc, get: get, set: set) }
    }
}

/// A method of a declared class, called with a colon. The closure receives the object, then the arguments.
///
/// The closure's types are those of the arguments: an optional one may be omitted. A thrown error is raised in the
/// script, and returns to Swift unchanged.
public final class LuaMethod<Object: AnyObject>: LuaMember<Object> {
    /// A method with a result.
    public convenience init<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (Object, repeat each Argument) throws -> Result
    ) {
        self.init { $0.method(name, arguments, doc: doc, example: example, calling: body) }
    }

    /// A method without results, or with several: the elements of a tuple.
    @_disfavoredOverload
    public convenience init<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (Object, repeat each Argument) throws -> (repeat each Result)
    ) {
        self.init { $0.method(name, arguments, doc: doc, example: example, calling: body) }
    }
}

extension LuaMethod where Object: Sendable {
    /// An async method: the script waits for it, while other scripts continue. The closure is called in a separate
    /// task. Requires a ``LuaEngine`` or a `ScriptHost`.
    public convenience init<each Argument: LuaRepresentable & Sendable, Result: LuaRepresentable & Sendable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (Object, repeat each Argument) async throws -> Result
    ) {
        self.init { cls in
            cls.method(
                name, TypedArguments.parameters(arguments, of: name, repeat (each Argument).self),
                returns: Result.luaResults,
                doc: doc, example: example
            ) { object, call in
                var reader = ArgumentReader(call)
                let arguments = (repeat try reader.next((each Argument).self))
                return try call.waits(for: {
                    let result = try await body(object, repeat each arguments)
                    return { try result.push(as: $0) }
                })
            }
        }
    }
}

/// A static function of a class: `Lamp.named("Study")`. Subclasses do not inherit it.
public final class LuaStatic<Object: AnyObject>: LuaMember<Object> {
    /// A function with a result.
    public convenience init<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        self.init { $0.function(name, arguments, doc: doc, example: example, calling: body) }
    }

    /// A function without results, or with several: the elements of a tuple.
    @_disfavoredOverload
    public convenience init<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ arguments: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        self.init { $0.function(name, arguments, doc: doc, example: example, calling: body) }
    }
}

/// An operator of a declared class, by the types of its operands: `LuaOperator(.add) { (a: Lamp, b: Lamp) in … }`.
///
/// Lua calls it if either operand is an object of the class; operands of other types are an error.
public final class LuaOperator<Object: AnyObject>: LuaMember<Object> {
    /// The notation in scripts; the raw value is the name of the metamethod.
    public enum Symbol: String, Sendable {
        /// `a + b`.
        case add
        /// `a(…)`.
        case call
        /// `a .. b`.
        case concat
        /// `a / b`.
        case divide = "div"
        /// `a == b`, of two objects.
        case equal = "eq"
        /// `a // b`.
        case floorDivide = "idiv"
        /// `#a`.
        case length = "len"
        /// `a < b`, and `b > a`.
        case less = "lt"
        /// `a <= b`, and `b >= a`.
        case lessOrEqual = "le"
        /// `a % b`.
        case modulo = "mod"
        /// `a * b`.
        case multiply = "mul"
        /// `-a`.
        case negate = "unm"
        /// `a ^ b`.
        case power = "pow"
        /// `a - b`.
        case subtract = "sub"
        /// The text of `tostring` and `print`.
        case text = "tostring"

        /// The numbers of operands that its closure may take.
        fileprivate var operands: ClosedRange<Int> {
            switch self {
            case .length, .negate, .text: 1...1
            case .call: 1...Int.max
            default: 2...2
            }
        }
    }

    /// Creates an operator; for `call` the arguments follow the object.
    ///
    /// - Precondition: the closure takes as many operands as the operator has: one for `length`, `negate` and `text`, one
    ///   or more for `call`, and two for the others.
    public convenience init<each Operand: LuaRepresentable, Result: LuaRepresentable>(
        _ symbol: Symbol, doc: String = "", calling body: @escaping (repeat each Operand) throws -> Result
    ) {
        self.init { cls in
            let operands = TypedArguments.parameters(numbered: ["left", "right"], repeat (each Operand).self)
            precondition(
                symbol.operands.contains(operands.count),
                "the operator \(symbol) of \(cls.name) has \(symbol.operands.lowerBound.counted("operand")), "
                    + "and its closure takes \(operands.count)")
            let declaration = LuaFunctionDeclaration("__" + symbol.rawValue, operands, returns: [Result.luaType])
            cls.metamethod(declaration) { call in
                var reader = ArgumentReader(call)
                return try body(repeat reader.next((each Operand).self)).push(as: call)
            }
            guard symbol != .text else { return }
            let other = operands.count < 2 ? nil : operands[1].type == .object(cls.name) ? operands[0] : operands[1]
            cls.declareOperator(symbol.rawValue, other?.type, returns: Result.luaType, doc: doc)
        }
    }
}

/// The names of a declared class without a member, as of an object with fields of any name: `sheet.rent = 900`.
public final class LuaDynamicMembers<Object: AnyObject>: LuaMember<Object> {
    /// Creates them from their functions.
    ///
    /// - Parameters:
    ///   - get: gives the value of a name; nil for an unknown one, which is an error that lists the nearest names.
    ///   - set: takes a new value; without it the names cannot be assigned.
    public convenience init<Value: LuaRepresentable>(
        get: @escaping (Object, String) throws -> Value?, set: ((Object, String, Value) throws -> Void)? = nil
    ) {
        self.init { cls in
            let owner = cls.name
            let assign: ((Object, LuaCall) throws -> Void)? = set.map { set in
                { object, call in
                    guard let name = call.value(0).textValue else {
                        throw LuaError(.argument, "\(owner) is not indexed by \(call.value(0).typeName.withArticle)")
                    }
                    do { try set(object, name, Value.read(call, at: 1)) } catch let error as LuaMismatch {
                        throw LuaError(.argument, "\(owner).\(name): \(error.message)")
                    }
                }
            }
            cls.serveUnknown(
                members: { object, name, call in try get(object, name)?.push(as: call) }, assignments: assign)
        }
    }
}
