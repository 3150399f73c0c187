/// A line that is for the prompt and not for Lua: `:time #items`.
struct CommandLine: Equatable {
    /// The word behind the colon.
    let name: String
    /// What follows the word.
    let rest: String
    /// Where the colon and the word stand, in UTF-8 bytes.
    let nameRange: Range<Int>
    /// Where `rest` begins.
    let restOffset: Int

    /// Nil for Lua: no statement begins with one colon.
    static func parse(_ text: String) -> CommandLine? {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") else { return nil }
        // `::label::` is Lua.
        if start + 1 < bytes.count, bytes[start + 1] == UInt8(ascii: ":") { return nil }
        var end = start + 1
        while end < bytes.count, LuaLexer.isNamePart(bytes[end]) { end += 1 }
        var rest = end
        while rest < bytes.count, bytes[rest] == 0x20 || bytes[rest] == 0x09 { rest += 1 }
        var last = bytes.count
        while last > rest, bytes[last - 1] == 0x20 || (0x09...0x0D).contains(bytes[last - 1]) { last -= 1 }
        return CommandLine(
            name: String(decoding: bytes[start + 1..<end], as: UTF8.self),
            rest: String(decoding: bytes[rest..<last], as: UTF8.self), nameRange: start..<end, restOffset: rest)
    }
}
