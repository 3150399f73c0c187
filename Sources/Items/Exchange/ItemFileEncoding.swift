/// A file's text encoding.
public enum ItemFileEncoding: String, Sendable, CaseIterable {
    /// UTF-8, with or without a byte order mark.
    case utf8 = "utf-8"
    /// ISO 8859-1; bytes 80 to 9F are read as Windows-1252 where that defines them.
    case latin1
    /// UTF-16 in the byte order of its mark; little-endian without one.
    case utf16 = "utf-16"
    /// By byte order mark; without one, UTF-8 if the whole file is valid, else Latin-1.
    case automatic = "auto"
}
