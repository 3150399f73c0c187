/// How the text of a file is encoded.
public enum ItemFileEncoding: String, Sendable, CaseIterable {
    /// UTF-8, with or without a byte order mark.
    case utf8 = "utf-8"
    /// ISO 8859-1; of the bytes from 80 to 9F those that Windows-1252 has mean what they mean there.
    case latin1
    /// UTF-16 in the byte order that its mark says; little-endian without one.
    case utf16 = "utf-16"
    /// By the byte order mark; without one UTF-8 where all of the file is, else Latin-1.
    case automatic = "auto"
}
