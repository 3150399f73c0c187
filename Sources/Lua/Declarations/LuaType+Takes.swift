internal import CLuaShim

/// Types in the shim's one-byte encoding, for the check before a call.
extension LuaType {
    /// One byte for each parameter, the first lowest, without a variadic one at the end, which Swift checks;
    /// `CLUA_TAKES_GENERAL` for more than eight.
    static func takes(_ parameters: [LuaParameter]) -> UInt64 {
        var word: UInt64 = 0
        var types = parameters.map(\.type)
        if types.last?.isVariadic ?? false { types.removeLast() }
        guard types.count <= 8 else { return UInt64(CLUA_TAKES_GENERAL) }
        for (position, type) in types.enumerated() { word |= UInt64(type.takes) << UInt64(position * 8) }
        return word
    }

    /// The words of the choices, in order, in the encoding of `clua_conforms`; nil without choices.
    static func words(_ parameters: [LuaParameter]) -> [CChar]? {
        var all: [CChar] = []
        for parameter in parameters {
            guard let words = parameter.type.plainWords else { continue }
            for word in words { all += word.utf8CString }
            all.append(0)
        }
        return all.isEmpty ? nil : all
    }

    /// The words of a choice that the shim can compare: no word is empty or has a zero byte.
    private var plainWords: [String]? {
        switch self {
        case .choice(let words): words.allSatisfy { !$0.isEmpty && !$0.utf8.contains(0) } ? words : nil
        case .optional(let type): type.plainWords
        default: nil
        }
    }

    private var takes: UInt8 {
        let code: Int32 =
            switch self {
            case .any: CLUA_TAKES_ANY
            case .boolean: CLUA_TAKES_BOOLEAN
            case .integer: CLUA_TAKES_INTEGER
            case .number: CLUA_TAKES_NUMBER
            case .string: CLUA_TAKES_STRING
            case .text: CLUA_TAKES_TEXT
            case .table, .array, .record: CLUA_TAKES_TABLE
            case .function, .callback: CLUA_TAKES_FUNCTION
            case .object: CLUA_TAKES_USERDATA
            case .union(let types): Self.takesOne(of: types)
            case .choice: plainWords == nil ? CLUA_TAKES_GENERAL : CLUA_TAKES_CHOICE
            case .options, .variadic: CLUA_TAKES_GENERAL
            case .optional(let type): Int32(type.takes) | CLUA_TAKES_NIL_TOO
            }
        return UInt8(truncatingIfNeeded: code)
    }

    /// A union of plain types.
    private static func takesOne(of types: [LuaType]) -> Int32 {
        var bits = CLUA_TAKES_ONE_OF
        for type in types {
            switch type {
            case .text: bits |= CLUA_TAKES_OR_TEXT
            case .number: bits |= CLUA_TAKES_OR_NUMBER
            case .string: bits |= CLUA_TAKES_OR_STRING
            case .table: bits |= CLUA_TAKES_OR_TABLE
            case .function, .callback: bits |= CLUA_TAKES_OR_FUNCTION
            case .object: bits |= CLUA_TAKES_OR_USERDATA
            default: return CLUA_TAKES_GENERAL
            }
        }
        return bits
    }
}
