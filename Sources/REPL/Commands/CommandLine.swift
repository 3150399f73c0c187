import Lua

/// An entry that is a command of the prompt and not Lua: `:time #items`.
struct CommandLine: Equatable {
    /// The word after the colon.
    let name: String
    /// The text after the word.
    let rest: String
    /// The range of the colon and the word, in UTF-8 bytes.
    let nameRange: Range<Int>
    /// The offset of `rest`.
    let restOffset: Int

    /// Nil for Lua: no statement begins with a single colon.
    static func parse(_ text: String) -> CommandLine? {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") else { return nil }
        // `::label::` is Lua.
        if start + 1 < bytes.count, bytes[start + 1] == UInt8(ascii: ":") { return nil }
        var end = start + 1
        while end < bytes.count, LuaName.isPart(bytes[end]) { end += 1 }
        var rest = end
        while rest < bytes.count, bytes[rest] == 0x20 || bytes[rest] == 0x09 { rest += 1 }
        var last = bytes.count
        while last > rest, bytes[last - 1] == 0x20 || (0x09...0x0D).contains(bytes[last - 1]) { last -= 1 }
        return CommandLine(
            name: String(decoding: bytes[start + 1..<end], as: UTF8.self),
            rest: String(decoding: bytes[rest..<last], as: UTF8.self), nameRange: start..<end, restOffset: rest)
    }
}
