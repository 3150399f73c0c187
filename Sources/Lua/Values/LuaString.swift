internal import Wording

/// A Lua string: arbitrary bytes.
public struct LuaString: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes.
    public var bytes: [UInt8]

    /// Creates a string from bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// Creates a string from a text's UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }
    public init(stringLiteral text: String) { self.init(text) }

    /// The text; nil unless the bytes are UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The text, with U+FFFD for invalid UTF-8.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The string as a Lua literal; UTF-8 text remains readable.
    ///
    /// - Parameter limit: the maximum number of characters; for bytes that are not text, 64 unless there is no limit.
    /// - Returns: the literal, followed by the number of bytes if it is truncated.
    package func quoted(limit: Int = .max) -> String {
        guard let text else {
            let limit = limit == .max ? Int.max : 64
            let shown = bytes.prefix(limit).map { byte in
                (0x20...0x7e).contains(byte) && byte != 0x22 && byte != 0x5c
                    ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "\"\(shown.joined())\"\(bytes.count > limit ? "… (\(bytes.count.counted("byte")))" : "")"
        }
        let shown = VisibleText.escaped(String(text.unicodeScalars.prefix(limit)).quoted())
        return text.unicodeScalars.count > limit ? "\(shown)… (\(text.utf8.count.counted("byte")))" : shown
    }
}
