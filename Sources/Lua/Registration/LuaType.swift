internal import CLuaShim

/// The declared type of a parameter, a result or a property.
///
/// Arguments are checked against it before the function runs. Errors, help, completion and editor annotations quote it.
public indirect enum LuaType: Sendable, Equatable {
    /// Any value, nil included.
    case any
    /// `true` or `false`.
    case boolean
    /// A whole number: 78 or 78.0, not 78.5.
    case integer
    /// An integer or a float.
    case number
    /// A string of any bytes.
    case string
    /// A string of UTF-8.
    case text
    /// A table of any shape.
    case table
    /// A function, or another callable value.
    case function
    /// A callback with its signature, `(item: Item) → boolean`.
    case callback(String)
    /// An object of the class of this name.
    case object(String)
    /// An array from 1 with elements of this type.
    case array(LuaType)
    /// One of these words.
    case choice([String])
    /// A table of named options; an unknown name is an error.
    case options(LuaFields)
    /// A table with these fields, and a name for editors. An argument may have other fields as well.
    case record(String, LuaFields)
    /// A value of one of several types.
    case union([LuaType])
    /// A value of this type, or nil.
    case optional(LuaType)
    /// Any number of arguments of this type, at the end.
    case variadic(LuaType)

    /// The type in words, for help and errors.
    package var name: String {
        switch self {
        case .any: "any value"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .text: "string"
        case .table: "table"
        case .function: "function"
        case .callback: "function"
        case .object(let name): name
        case .array(let element): "array of \(element.name)"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .options: "table of options"
        case .record: "table"
        case .union(let types): types.map(\.name).joined(separator: " or ")
        case .optional(let type): "\(type.name) or nil"
        case .variadic(let type): "\(type.name)…"
        }
    }

    /// The result types of a function that can fail: the value, or nil and an error.
    package static func orError(_ type: LuaType) -> [LuaType] { [.optional(type), .optional(.object("Error"))] }

    /// The type without nil.
    var wrapped: LuaType { if case .optional(let type) = self { type } else { self } }

    /// Whether a text conforms to it.
    var takesText: Bool {
        switch self {
        case .text, .string: true
        case .optional(let type), .variadic(let type): type.takesText
        case .union(let types): types.contains { $0.takesText }
        default: false
        }
    }

    /// Whether one of two types is more specific than the other, or they are equal, apart from nil. An object may be one of
    /// a subclass, and a table that has a metatable.
    func agrees(with other: LuaType) -> Bool { includes(other) || other.includes(self) }

    private func includes(_ other: LuaType) -> Bool {
        switch (single, other.single) {
        case (.any, _), (.object, .object), (.boolean, .boolean), (.integer, .integer): true
        case (_, .union(let types)): types.allSatisfy(includes)
        case (.union(let types), let other): types.contains { $0.includes(other) }
        case (.number, .number), (.number, .integer): true
        case (.string, .string), (.string, .text), (.string, .choice), (.text, .text), (.text, .choice): true
        case (.choice(let words), .choice(let some)): some.allSatisfy(words.contains)
        case (.table, .table), (.table, .array), (.table, .record), (.table, .options), (.table, .object): true
        case (.array(let element), .array(let other)): element.includes(other)
        case (.function, .function), (.function, .callback), (.callback, .callback): true
        case (.record, .record), (.options, .options): single == other.single
        default: false
        }
    }

    /// The type of one value, and not nil.
    private var single: LuaType {
        switch self {
        case .optional(let type), .variadic(let type): type.single
        default: self
        }
    }

    /// Whether it stands for any number of arguments.
    package var isVariadic: Bool { if case .variadic = self { true } else { false } }

    /// Whether the argument may be omitted.
    package var isOptional: Bool {
        switch self {
        case .optional, .variadic, .any: true
        default: false
        }
    }
}

extension LuaType {
    /// The type error of the value on the stack, in words; nil when it conforms.
    ///
    /// An object is only checked to be a userdata: the accessor compares the class.
    func mismatch(at index: Int32, on L: OpaquePointer) -> String? {
        let type = LuaBasicType(rawValue: clua_type(L, index)) ?? .none
        switch self {
        case .any, .variadic(.any): return nil
        case .boolean where type == .boolean: return nil
        case .number where type == .number: return nil
        case .string where type == .string: return nil
        case .table where type == .table, .record where type == .table: return nil
        case .array where type == .table: return nil
        case .function where clua_iscallable(L, index) != 0, .callback where clua_iscallable(L, index) != 0: return nil
        case .object where type == .userdata: return nil
        case .integer where type == .number:
            var isInteger: Int32 = 0
            _ = clua_tointeger(L, index, &isInteger)
            return isInteger != 0 ? nil : "integer expected, got \(clua_tonumber(L, index, nil))"
        case .text where type == .string:
            var length = 0
            guard let start = clua_tostring(L, index, &length) else { break }
            let raw = UnsafeRawBufferPointer(start: start, count: length)
            return isUTF8(raw) ? nil : "UTF-8 text expected, got other bytes\(Self.adviceOnBytes(L))"
        case .choice(let words) where type == .string:
            var length = 0
            guard let start = clua_tostring(L, index, &length) else { break }
            let bytes = UnsafeRawBufferPointer(start: start, count: length)
            if words.contains(where: { $0.utf8.count == length && $0.utf8.elementsEqual(bytes) }) { return nil }
            let word = String(decoding: bytes, as: UTF8.self)
            return "\(name) expected, got \"\(word)\"\(NearestNames.hint(for: word, among: words))"
        case .options(let options) where type == .table: return Self.mismatch(of: options.all, at: index, on: L)
        case .union(let types):
            if type == .table, types.contains(where: \.isFunction), clua_iscallable(L, index) != 0 { return nil }
            if type == .table, let options = types.first(where: { if case .options = $0 { true } else { false } }) {
                return options.mismatch(at: index, on: L)
            }
            if types.contains(where: { $0.mismatch(at: index, on: L) == nil }) { return nil }
        case .optional(let inner): return type == .nil || type == .none ? nil : inner.mismatch(at: index, on: L)
        case .variadic(let inner): return inner.mismatch(at: index, on: L)
        default: break
        }
        if type == .string, takesText { return "\(name) expected, got \(Self.otherBytes)" }
        return "\(name) expected, got \(Self.describe(type, at: index, on: L))"
    }

    /// What a type that takes texts refuses in a string.
    static let otherBytes = "bytes that are not UTF-8"

    /// What holds other bytes than text, if the state has it.
    private static func adviceOnBytes(_ L: OpaquePointer) -> String {
        let state = Unmanaged<LuaState>.fromOpaque(clua_owner(L)).takeUnretainedValue()
        return state.declarations["data"] == nil ? "" : " (data(…) holds those)"
    }

    private var isFunction: Bool {
        switch self {
        case .function, .callback: true
        case .optional(let inner): inner.isFunction
        default: false
        }
    }

    private static func describe(_ type: LuaBasicType, at index: Int32, on L: OpaquePointer) -> String {
        switch type {
        case .none: return "no value"
        case .userdata:
            guard let cls = clua_classof(L, index) else { return "userdata" }
            return String(cString: clua_classname(cls))
        default: return String(cString: clua_typename(type.rawValue))
        }
    }

    private static func mismatch(of options: [LuaParameter], at index: Int32, on L: OpaquePointer) -> String? {
        let table = clua_absindex(L, index)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        guard clua_checkstack(L, 8) != 0 else { return nil }
        clua_pushnil(L)
        while true {
            var more: Int32 = 0
            guard clua_next(L, table, &more) == 0, more != 0 else { return nil }
            let state = Unmanaged<LuaState>.fromOpaque(clua_owner(L)).takeUnretainedValue()
            let key = state.value(at: -2, on: L)
            guard let option = options.first(where: { .text($0.name) == key }) else {
                return unknownOption(key, among: options.map(\.name))
            }
            if let mismatch = option.type.mismatch(at: -1, on: L) { return "option '\(option.name)': \(mismatch)" }
            clua_settop(L, -2)
        }
    }

    /// The error for a key that is none of the options: a name, or a position.
    static func unknownOption(_ key: LuaValue, among names: [String]) -> String {
        guard case .string(let name) = key else { return "unknown option [\(key)]\(advice(on: "", among: names))" }
        return "unknown option '\(name)'\(advice(on: name.description, among: names))"
    }

    /// The nearest names to a misspelt option; all names if none is similar.
    private static func advice(on key: String, among names: [String]) -> String {
        let hint = NearestNames.hint(for: key, among: names)
        guard hint.isEmpty, !names.isEmpty else { return hint }
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        return names.count == 1 ? "; the only one is \(list)" : "; there are \(list)"
    }
}

/// Whether the bytes are well-formed UTF-8. ASCII, nearly every argument, is tested eight bytes at a time; the last
/// word overlaps the one before.
func isUTF8(_ raw: UnsafeRawBufferPointer) -> Bool {
    guard let start = raw.baseAddress else { return true }
    let last = raw.count &- 8
    var index = 0
    if last >= 0 {
        while index < last, start.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            index &+= 8
        }
        if index >= last, start.loadUnaligned(fromByteOffset: last, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            return true
        }
    } else {
        while index < raw.count, start.load(fromByteOffset: index, as: UInt8.self) < 0x80 { index &+= 1 }
        if index == raw.count { return true }
    }
    return String(validating: raw, as: UTF8.self) != nil
}

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
