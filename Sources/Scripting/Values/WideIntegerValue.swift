import Lua

/// An integer of a property list beyond Lua's 64 bits.
final class WideIntegerValue {
    let value: Int128

    init(_ value: Int128) { self.value = value }

    /// The class: exact and comparable, convertible to text or, approximately, to a number. It takes no part in arithmetic,
    /// whose results would not be exact.
    static func makeClass(in state: LuaState) -> LuaClass<WideIntegerValue> {
        let cls = LuaClass<WideIntegerValue>(
            "WideInteger",
            "An integer of a property list or of JSON beyond Lua's 64 bits, exact: `tostring` gives all digits, == compares two of them, < also with numbers. Arithmetic raises an error.",
            in: state,
            kind: .box)
        cls.method(
            "number", [], "The nearest float.",
            example: "return plist.integer(\"18446744073709551615\"):number()"
        ) { Double($0.value) }
        cls.metamethod("__tostring") { integer, call in call.returns(String(integer.value)) }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls)?.value == call.optionalObject(1, cls)?.value)
        }
        cls.rawMetamethod("__lt") { call in call.returns(try order(call, cls).map { $0 < 0 } ?? false) }
        cls.rawMetamethod("__le") { call in call.returns(try order(call, cls).map { $0 <= 0 } ?? false) }
        for name in [
            "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "bnot", "shl", "shr",
        ] {
            cls.rawMetamethod("__\(name)") { call in
                let value = call.optionalObject(0, cls) ?? call.optionalObject(1, cls)
                throw LuaError(
                    .runtime,
                    "arithmetic on \(value.map { String($0.value) } ?? "an integer"), which has more than Lua's 64 bits: "
                        + "convert it with :number() to the nearest float, or with tostring")
            }
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
        return cls
    }

    /// The order of two operands, of which one may be a number: less than 0, 0 or more; nil with a number that is none.
    private static func order(_ call: LuaCall, _ cls: LuaClass<WideIntegerValue>) throws -> Int? {
        if let first = call.optionalObject(0, cls) {
            if let second = call.optionalObject(1, cls) { return first.value.order(second.value) }
            return try first.value.order(call, 1)
        }
        return try call.object(1, cls).value.order(call, 0).map { -$0 }
    }
}

extension Int128 {
    fileprivate func order(_ other: Int128) -> Int { self < other ? -1 : self == other ? 0 : 1 }

    fileprivate func order(_ call: LuaCall, _ position: Int) throws -> Int? {
        if case .integer(let integer) = call.value(position) { return order(Int128(integer)) }
        let number = try call.number(position)
        if number.isNaN { return nil }
        guard let whole = Int128(exactly: number.rounded(.down)) else { return number < 0 ? 1 : -1 }
        // An equal integral part is less than a number with a fraction.
        return self == whole && number != number.rounded(.down) ? -1 : order(whole)
    }
}
