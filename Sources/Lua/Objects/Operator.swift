/// An operator of a declared class, by the types of its operands: `Operator(.add) { (a: Lamp, b: Lamp) in … }`.
///
/// Lua calls it if either operand is an object of the class; operands of other types are an error.
public struct Operator<Object: AnyObject>: LuaMember {
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
    }

    private let add: (LuaClass<Object>) -> Void

    /// Creates an operator; for `call` the arguments follow the object.
    public init<each Operand: LuaRepresentable, Result: LuaRepresentable>(
        _ symbol: Symbol, doc: String = "", calling body: @escaping (repeat each Operand) throws -> Result
    ) {
        add = { cls in
            let operands = TypedArguments.parameters(["left", "right"], repeat (each Operand).self)
            let declaration = LuaFunctionDeclaration("__" + symbol.rawValue, operands, returns: [Result.luaType])
            cls.metamethod(declaration) { call in
                var reader = ArgumentReader(call)
                return try body(repeat reader.next((each Operand).self)).push(as: call)
            }
            guard symbol != .text else { return }
            let other = operands.count < 2 ? nil : operands[1].type == .object(cls.name) ? operands[0] : operands[1]
            cls.declareOperator(symbol.rawValue, other?.type, returns: Result.luaType, doc)
        }
    }

    public func declare(in cls: LuaClass<Object>) { add(cls) }
}
