import Lua

/// The exact place of a syntax error: Lua reports the line and the token, which may occur there more than once.
enum SyntaxPlace {
    /// The characters of the line at the error; nil when ambiguous.
    static func range(of error: LuaError, in text: String, line number: Int, state: LuaState) -> Range<Int>? {
        guard case .syntax = error.kind else { return nil }
        let lua = LuaText(text)
        let lines = lineStarts(lua.bytes)
        guard number >= 1, number <= lines.count else { return nil }
        let start = lines[number - 1]
        let end = number < lines.count ? lines[number] : lua.bytes.count
        for token in lua.tokens where token.range.lowerBound >= start && token.range.lowerBound < end {
            // The first token that no continuation can correct.
            let prefix = Array(lua.bytes[..<token.range.upperBound])
            guard fails(prefix, state) else { continue }
            let before = String(decoding: lua.bytes[start..<token.range.lowerBound], as: UTF8.self).count
            return before..<before + max(1, lua.text(token).count)
        }
        return nil
    }

    private static func fails(_ bytes: [UInt8], _ state: LuaState) -> Bool {
        !canGoOn(bytes, state) && !canGoOn(Array("return ".utf8) + bytes, state)
    }

    private static func canGoOn(_ bytes: [UInt8], _ state: LuaState) -> Bool {
        do throws(LuaError) {
            _ = try state.load(bytes, name: "=place")
            return true
        } catch {
            return error.kind == .syntax(incomplete: true)
        }
    }

    private static func lineStarts(_ bytes: [UInt8]) -> [Int] {
        [0] + bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
    }
}
