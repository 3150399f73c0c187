/// Lua's names: letters, digits and underscores, except for reserved words.
package enum LuaName {
    package static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]

    package static func isStart(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }

    package static func isPart(_ byte: UInt8) -> Bool { isStart(byte) || (0x30...0x39).contains(byte) }

    /// Whether a text is a name: `item.room`, not `item["shelf 3"]`.
    package static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first, isStart(first) else { return false }
        return text.utf8.allSatisfy(isPart) && !keywords.contains(text)
    }
}
