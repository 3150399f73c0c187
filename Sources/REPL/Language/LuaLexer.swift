import Lua

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
