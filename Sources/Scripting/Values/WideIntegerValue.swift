import Lua

/// An integer of a property list beyond Lua's 64 bits.
final class WideIntegerValue {
    let value: Int128

    init(_ value: Int128) { self.value = value }

    /// The class: exact and comparable, convertible to text or, approximately, to a number.
    static func makeClass(in state: LuaState) -> LuaClass<WideIntegerValue> {
        let cls = LuaClass<WideIntegerValue>(
            "WideInteger", "An integer of a property list beyond Lua's 64 bits; compared by value.",
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
        cls.rawMetamethod("__lt") { call in call.returns(try operand(call, 0, cls) < operand(call, 1, cls)) }
        cls.rawMetamethod("__le") { call in call.returns(try operand(call, 0, cls) <= operand(call, 1, cls)) }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
        return cls
    }

    private static func operand(
        _ call: LuaCall, _ position: Int, _ cls: LuaClass<WideIntegerValue>
    ) throws -> Int128 {
        if let wide = call.optionalObject(position, cls) { return wide.value }
        return Int128(try call.integer(position))
    }
}
