import Wording

/// What commands tell on standard output, a line each.
enum Report {
    /// Writes a line; control characters in it, of a path or an archive, are escaped.
    static func line(_ text: String) { print(VisibleText.line(text)) }
}
