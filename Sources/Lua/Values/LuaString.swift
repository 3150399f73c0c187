/// A Lua string: arbitrary bytes.
public struct LuaString: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }
    public init(stringLiteral text: String) { self.init(text) }

    /// The text; nil unless the bytes are UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The text, with U+FFFD for invalid UTF-8.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
