/// A text with its tokens, for highlighting, indentation and completion.
struct LuaText {
    let bytes: [UInt8]
    /// All tokens, with comments.
    let all: [LuaToken]
    /// The tokens without comments.
    let tokens: [LuaToken]

    init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        all = LuaLexer.tokens(bytes)
        tokens = all.filter { !$0.isComment }
    }

    func text(_ token: LuaToken) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

    /// Whether the token at an index is this symbol or keyword; false out of bounds.
    func isToken(_ index: Int, _ text: StaticString) -> Bool {
        guard tokens.indices.contains(index) else { return false }
        let token = tokens[index]
        guard token.kind == .symbol || token.kind == .keyword, token.range.count == text.utf8CodeUnitCount else {
            return false
        }
        return text.withUTF8Buffer { bytes[token.range].elementsEqual($0) }
    }

    func isName(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .name }

    func name(_ index: Int) -> String? { isName(index) ? text(tokens[index]) : nil }

    /// The contents of a string token; escapes are decoded as far as names and paths need.
    func stringContents(_ token: LuaToken) -> String {
        guard case .string(let isClosed) = token.kind else { return "" }
        var inner = bytes[token.range]
        if inner.first == UInt8(ascii: "[") {
            let level = inner.dropFirst().prefix { $0 == UInt8(ascii: "=") }.count
            inner = inner.dropFirst(level + 2)
            if isClosed { inner = inner.dropLast(level + 2) }
        } else {
            inner = inner.dropFirst()
            if isClosed { inner = inner.dropLast() }
        }
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in inner {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            result.append(isEscaped && byte == UInt8(ascii: "n") ? 0x0A : byte)
            isEscaped = false
        }
        return String(decoding: result, as: UTF8.self)
    }
}
