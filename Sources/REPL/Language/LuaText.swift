import LineEditor
import Lua

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
    func isToken(_ index: Int, _ texts: StaticString...) -> Bool {
        guard tokens.indices.contains(index) else { return false }
        let token = tokens[index]
        guard token.kind == .symbol || token.kind == .keyword else { return false }
        return texts.contains { $0.withUTF8Buffer { bytes[token.range].elementsEqual($0) } }
    }

    /// Whether a token is an opening bracket.
    func opens(_ index: Int) -> Bool { isToken(index, "(", "{", "[") }

    /// Whether a token is a closing bracket.
    func closes(_ index: Int) -> Bool { isToken(index, ")", "}", "]") }

    /// Whether an operand ends with a token: a name, a literal or a closing bracket.
    func endsOperand(_ index: Int) -> Bool {
        let token = tokens[index]
        return token.kind == .name || token.kind == .number || token.isString || closes(index)
    }

    /// The bracket that belongs to a closing one; nil if there is none, or if the token is something else.
    func opening(of close: Int) -> Int? {
        guard closes(close) else { return nil }
        var depth = 0
        for index in (0...close).reversed() {
            if closes(index) { depth += 1 }
            if opens(index) { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// Whether the last of it is a call of a method: `value:dump(0, 16)`.
    func endsWithCall(of method: String) -> Bool {
        let last = tokens.count - 1
        guard isToken(last, ")"), let open = opening(of: last) else { return false }
        return name(open - 1) == method && isToken(open - 2, ":")
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

/// A token of Lua text, sufficient to highlight, indent and complete unfinished text.
struct LuaToken: Equatable {
    enum Kind: Equatable {
        case keyword, name, number
        /// A quoted or bracketed string; `isClosed` is false for an unfinished one.
        case string(isClosed: Bool)
        case comment(isClosed: Bool)
        /// An operator, a bracket, a separator.
        case symbol
        /// Bytes that are not Lua.
        case unknown
    }

    let kind: Kind
    /// Its range in UTF-8 bytes.
    let range: Range<Int>

    var isString: Bool { if case .string = kind { true } else { false } }
    var isComment: Bool { if case .comment = kind { true } else { false } }
}

/// Splits Lua text into tokens. Accepts any bytes, never fails, and is linear in their number.
struct LuaLexer {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The tokens of a text, with comments, without blanks.
    static func tokens(_ text: String) -> [LuaToken] { tokens(Array(text.utf8)) }

    static func tokens(_ bytes: [UInt8]) -> [LuaToken] {
        var lexer = LuaLexer(bytes)
        var tokens: [LuaToken] = []
        while let token = lexer.next() { tokens.append(token) }
        return tokens
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        let index = position + offset
        return index < bytes.count ? bytes[index] : nil
    }

    private mutating func next() -> LuaToken? {
        while let blank = byte(), blank == 0x20 || (0x09...0x0D).contains(blank) { position += 1 }
        guard let first = byte() else { return nil }
        let start = position
        let kind = scan(first)
        return LuaToken(kind: kind, range: start..<position)
    }

    private mutating func scan(_ first: UInt8) -> LuaToken.Kind {
        switch first {
        case UInt8(ascii: "-") where byte(1) == first:
            position += 2
            if let level = bracketLevel() { return .comment(isClosed: skipLong(level)) }
            while let next = byte(), next != 0x0A { position += 1 }
            // A line comment is closed by a following line.
            return .comment(isClosed: position < bytes.count)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(isClosed: skipQuoted(first))
        case UInt8(ascii: "["):
            if let level = bracketLevel() { return .string(isClosed: skipLong(level)) }
            position += 1
            return .symbol
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: ".") where byte(1).map(Self.isDigit) ?? false: return number()
        case _ where LuaName.isStart(first):
            let start = position
            while let next = byte(), LuaName.isPart(next) { position += 1 }
            let word = String(decoding: bytes[start..<position], as: UTF8.self)
            return LuaName.keywords.contains(word) ? .keyword : .name
        default: return symbol(first)
        }
    }

    private mutating func symbol(_ first: UInt8) -> LuaToken.Kind {
        for long in Self.longSymbols where bytes[position...].starts(with: long) {
            position += long.count
            return .symbol
        }
        position += 1
        if Self.symbols.contains(first) { return .symbol }
        // Whole characters, so that a style does not begin inside one.
        while let next = byte(), next & 0xC0 == 0x80 { position += 1 }
        return .unknown
    }

    private mutating func number() -> LuaToken.Kind {
        let isHex = byte() == 0x30 && (byte(1) == UInt8(ascii: "x") || byte(1) == UInt8(ascii: "X"))
        while let next = byte() {
            if next == UInt8(ascii: "."), byte(1) == next { break }
            let before = position > 0 ? bytes[position - 1] | 0x20 : 0
            let isSign = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
            if isSign, before == (isHex ? UInt8(ascii: "p") : UInt8(ascii: "e")) {
                position += 1
            } else if next == UInt8(ascii: ".") || LuaName.isPart(next) {
                position += 1
            } else {
                break
            }
        }
        return .number
    }

    private mutating func skipQuoted(_ quote: UInt8) -> Bool {
        position += 1
        while let next = byte() {
            if next == 0x0A { return false }
            position += 1
            if next == quote { return true }
            if next == UInt8(ascii: "\\"), let escaped = byte() {
                position += 1
                // \z skips the following blanks and line breaks.
                if escaped == UInt8(ascii: "z") {
                    while let blank = byte(), blank == 0x20 || (0x09...0x0D).contains(blank) { position += 1 }
                }
            }
        }
        return false
    }

    /// The level of the long bracket that begins here; nil when there is none.
    private func bracketLevel() -> Int? {
        guard byte() == UInt8(ascii: "[") else { return nil }
        var level = 0
        while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
        return byte(1 + level) == UInt8(ascii: "[") ? level : nil
    }

    private mutating func skipLong(_ level: Int) -> Bool {
        position += level + 2
        while let next = byte() {
            position += 1
            guard next == UInt8(ascii: "]") else { continue }
            var equals = 0
            while byte(equals) == UInt8(ascii: "=") { equals += 1 }
            guard equals == level, byte(equals) == UInt8(ascii: "]") else { continue }
            position += equals + 1
            return true
        }
        return false
    }

    private static let longSymbols: [[UInt8]] = [
        "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>",
    ].map { Array($0.utf8) }
    private static let symbols = Set("+-*/%^#&~|<>=(){}[];:,.".utf8)

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// The indentation of the next line of an unfinished chunk: two columns for each line that leaves blocks or brackets
/// open.
enum BlockDepth {
    private static let openers: Set<String> = ["do", "then", "function", "repeat", "else"]
    private static let closers: Set<String> = ["end", "until", "elseif", "else"]

    /// The columns of a line after a text.
    static func indentation(after text: String) -> Int {
        let lua = LuaText(text)
        // A long string or comment keeps the user's indentation.
        switch lua.all.last?.kind {
        case .string(isClosed: false)?: return 0
        case .comment(isClosed: false)? where lua.bytes[lua.all[lua.all.count - 1].range].contains(0x0A): return 0
        default: break
        }
        // The indentation of each open block's line; blocks opened on one line count once, as in f(function().
        var open: [(line: Int, columns: Int)] = []
        var line = 0
        var scanned = 0
        for token in lua.tokens {
            while scanned < token.range.lowerBound {
                if lua.bytes[scanned] == 0x0A { line += 1 }
                scanned += 1
            }
            guard token.kind == .keyword || token.kind == .symbol else { continue }
            let word = lua.text(token)
            if closers.contains(word) || [")", "}", "]"].contains(word) { _ = open.popLast() }
            if openers.contains(word) || ["(", "{", "["].contains(word) {
                let base = open.last
                let columns = base.map { $0.line == line ? $0.columns : $0.columns + 2 } ?? 0
                open.append((line, columns))
            }
        }
        return open.last.map { $0.columns + 2 } ?? 0
    }

    /// The indentation of a line that ends a block; nil for other lines.
    static func indentation(ofClosing line: String, after before: String) -> Int? {
        let lua = LuaText(line)
        guard let first = lua.tokens.first, first.kind == .keyword || first.kind == .symbol else { return nil }
        let word = lua.text(first)
        guard closers.contains(word) || [")", "}", "]"].contains(word) else { return nil }
        return max(0, indentation(after: before) - 2)
    }
}

/// Syntax highlighting of Lua text. Linear in the text.
enum LuaHighlighter {
    private static let constants: Set<String> = ["nil", "true", "false"]

    /// - Parameters:
    ///   - text: the entry: Lua, or a command of the prompt.
    ///   - isKnown: whether a name is a global, which then has its own style.
    /// - Returns: the spans in the order of the text; nested ones follow.
    static func spans(_ text: String, isKnown: (String) -> Bool = { _ in false }) -> [StyledSpan] {
        if let command = CommandLine.parse(text) {
            let offset = command.restOffset
            return [StyledSpan(command.nameRange, .keyword)]
                + self.spans(command.rest, isKnown: isKnown).map {
                    StyledSpan($0.range.lowerBound + offset..<$0.range.upperBound + offset, $0.style)
                }
        }
        let lua = LuaText(text)
        var spans: [StyledSpan] = []
        var previous: LuaToken?
        for (index, token) in lua.all.enumerated() {
            defer { if !token.isComment { previous = token } }
            switch token.kind {
            case .comment: spans.append(StyledSpan(token.range, .comment))
            case .string(let isClosed):
                spans.append(StyledSpan(token.range, .string))
                spans += escapes(lua.bytes, token.range)
                if !isClosed { spans.append(StyledSpan(token.range.lowerBound..<token.range.lowerBound + 1, .error)) }
            case .number: spans.append(StyledSpan(token.range, .number))
            case .keyword:
                spans.append(StyledSpan(token.range, constants.contains(lua.text(token)) ? .constant : .keyword))
            case .name: spans.append(StyledSpan(token.range, style(of: token, index, previous, lua, isKnown)))
            case .symbol: spans.append(StyledSpan(token.range, .operator))
            case .unknown: spans.append(StyledSpan(token.range, .error))
            }
        }
        return spans
    }

    private static func style(
        of token: LuaToken, _ index: Int, _ previous: LuaToken?, _ lua: LuaText, _ isKnown: (String) -> Bool
    ) -> TextStyle {
        let next = index + 1 < lua.all.count ? lua.all[index + 1] : nil
        let isCalled =
            next.map { next in
                next.isString || (next.kind == .symbol && [0x28, 0x7B].contains(lua.bytes[next.range.lowerBound]))
            } ?? false
        if isCalled { return .function }
        if let previous, previous.kind == .symbol, previous.range.count == 1 {
            let byte = lua.bytes[previous.range.lowerBound]
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":") { return .field }
        }
        return isKnown(lua.text(token)) ? .type : .variable
    }

    private static func escapes(_ bytes: [UInt8], _ range: Range<Int>) -> [StyledSpan] {
        guard bytes[range.lowerBound] != UInt8(ascii: "["), bytes[range].contains(UInt8(ascii: "\\")) else { return [] }
        var spans: [StyledSpan] = []
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                index += 1
                continue
            }
            spans.append(StyledSpan(index..<index + 2, .escape))
            index += 2
        }
        return spans
    }
}
