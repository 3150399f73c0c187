import Wording

/// Messages of commands on standard output, a line each.
enum Report {
    /// Writes a line; control characters in it, from a path or an archive, are escaped.
    static func line(_ text: String) { print(VisibleText.line(text)) }
}
