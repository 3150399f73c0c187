internal import CLuaShim
internal import Wording

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
            return isUTF8(raw) ? nil : "UTF-8 text expected, got other bytes (data(…) holds those)"
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
        return "\(name) expected, got \(Self.describe(type, at: index, on: L))"
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
            var length = 0
            guard let start = clua_tostring(L, -2, &length) else {
                clua_settop(L, -2)
                continue  // the positional values of an options table
            }
            let key = String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
            guard let option = options.first(where: { $0.name == key }) else {
                return "unknown option '\(key)'\(advice(on: key, among: options.map(\.name)))"
            }
            if let mismatch = option.type.mismatch(at: -1, on: L) { return "option '\(key)': \(mismatch)" }
            clua_settop(L, -2)
        }
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
