/// A file's text encoding.
public enum ItemFileEncoding: String, Sendable, CaseIterable {
    /// UTF-8, with or without a byte order mark.
    case utf8 = "utf-8"
    /// ISO 8859-1; bytes 80 to 9F are read as Windows-1252 where that defines them.
    case latin1
    /// UTF-16 in the byte order of its mark; without one, in the order that the places of its zeros show.
    case utf16 = "utf-16"
    /// By byte order mark; without one, UTF-16 if the first characters are plainly so, UTF-8 if the whole file is valid,
    /// else Latin-1.
    case automatic = "auto"
    /// The same as Latin-1 here.
    case windows1252 = "windows-1252"
    /// UTF-16 in little-endian byte order.
    case utf16LittleEndian = "utf-16le"
    /// UTF-16 in big-endian byte order.
    case utf16BigEndian = "utf-16be"
}
