/// A statement's text as tokens, as SQLite reads it: what stands in a text, a quoted name or a comment is not a word.
struct SQLText {
    /// A part of the text.
    struct Token {
        enum Kind { case word, quotedName, text, number, parameter, blob, sign }

        let kind: Kind
        /// Bytes of the text.
        let range: Range<Int>
    }

    let bytes: [UInt8]
    private(set) var tokens: [Token] = []
    /// Whether a text, a quoted name or a comment lacks its end.
    private(set) var isUnterminated = false

    init(_ text: String) {
        bytes = Array(text.utf8)
        var place = 0
        while place < bytes.count { place = take(place) }
    }

    /// The bytes of a token.
    func text(_ token: Token) -> String { String(decoding: bytes[token.range], as: UTF8.self) }

    /// Whether a token is a word, in any case.
    func isWord(_ token: Token, _ word: String) -> Bool {
        token.kind == .word && bytes[token.range].elementsEqual(word.utf8) { $0 | 0x20 == $1 }
    }

    /// Whether a token is a sign.
    func isSign(_ token: Token, _ sign: Character) -> Bool {
        token.kind == .sign && token.range.count == 1 && bytes[token.range.lowerBound] == sign.asciiValue
    }

    /// The content of a text in quotes.
    func content(_ token: Token) -> String {
        let inner = bytes[token.range].dropFirst().dropLast()
        var content: [UInt8] = []
        var isSecond = false
        for byte in inner {
            if byte == 0x27, !isSecond {
                isSecond = true
                content.append(byte)
            } else {
                if byte != 0x27 { content.append(byte) }
                isSecond = false
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// A name as a statement has it.
    static func quoted(_ name: String) -> String {
        var quoted: [UInt8] = [0x22]
        for byte in name.utf8 {
            if byte == 0x22 { quoted.append(byte) }
            quoted.append(byte)
        }
        return String(decoding: quoted + [0x22], as: UTF8.self)
    }

    // MARK: Reading

    private mutating func take(_ start: Int) -> Int {
        let byte = bytes[start]
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0C, 0x0D: return start + 1
        case UInt8(ascii: "-") where next(start) == byte:
            return bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
        case UInt8(ascii: "/") where next(start) == UInt8(ascii: "*"): return comment(start)
        case UInt8(ascii: "'"): return quoted(start, byte, .text)
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(start, byte, .quotedName)
        case UInt8(ascii: "["):
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "]")) else { return unterminated(start) }
            return add(.quotedName, start, end + 1)
        case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
            let end = bytes[(start + 1)...].firstIndex { !Self.isPartOfWord($0) } ?? bytes.count
            return add(end == start + 1 && byte != UInt8(ascii: "?") ? .sign : .parameter, start, end)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            if next(start) == UInt8(ascii: "'") { return quoted(start, 0x27, .blob, from: start + 2) }
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(start)
        case UInt8(ascii: ".") where next(start).map { $0 &- 0x30 < 10 } ?? false: return number(start)
        default: break
        }
        guard Self.isPartOfWord(byte) else { return add(.sign, start, start + 1) }
        return add(.word, start, bytes[start...].firstIndex { !Self.isPartOfWord($0) } ?? bytes.count)
    }

    private func next(_ place: Int) -> UInt8? { place + 1 < bytes.count ? bytes[place + 1] : nil }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == 0x5F || byte == 0x24 || (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10
    }

    private mutating func add(_ kind: Token.Kind, _ start: Int, _ end: Int) -> Int {
        tokens.append(Token(kind: kind, range: start..<end))
        return end
    }

    private mutating func unterminated(_ start: Int) -> Int {
        isUnterminated = true
        return add(.sign, start, bytes.count)
    }

    private mutating func comment(_ start: Int) -> Int {
        var place = start + 2
        while place + 1 < bytes.count {
            if bytes[place] == UInt8(ascii: "*"), bytes[place + 1] == UInt8(ascii: "/") { return place + 2 }
            place += 1
        }
        isUnterminated = true
        return bytes.count
    }

    private mutating func quoted(_ start: Int, _ quote: UInt8, _ kind: Token.Kind, from first: Int? = nil) -> Int {
        var place = first ?? start + 1
        while place < bytes.count {
            if bytes[place] == quote {
                guard next(place) == quote else { return add(kind, start, place + 1) }
                place += 1
            }
            place += 1
        }
        return unterminated(start)
    }

    private mutating func number(_ start: Int) -> Int {
        var place = start
        while place < bytes.count {
            let isSign =
                (bytes[place] == 0x2B || bytes[place] == 0x2D) && bytes[place - 1] | 0x20 == 0x65 && place > start
            guard isSign || bytes[place] == UInt8(ascii: ".") || Self.isPartOfWord(bytes[place]) else { break }
            place += 1
        }
        return add(.number, start, place)
    }
}
