import Wording

/// A source line below an error's message, with marks below the characters at fault.
struct SourceExcerpt {
    let text: String
    /// Blanks and carets; nil without marks.
    let marks: String?
    /// Maximum number of characters shown: a longer line is truncated around its marks.
    private static let limit = 160

    /// Nil for a line that is not text: bytes of a binary file, or control characters other than tabs.
    ///
    /// - Parameters:
    ///   - line: the line, without its break.
    ///   - range: the characters to mark, if any.
    init?(_ line: some StringProtocol, marking range: Range<Int>?) {
        var characters = Array(line)
        if characters.last == "\r" { characters.removeLast() }
        guard
            !characters.contains(where: { character in
                character.unicodeScalars.contains {
                    $0 == "\u{FFFD}" || ($0.properties.generalCategory == .control && $0 != "\t")
                }
            })
        else { return nil }
        var start = 0
        if characters.count > Self.limit {
            start = max(0, min((range?.lowerBound ?? 0) - Self.limit / 2, characters.count - Self.limit))
        }
        let end = min(characters.count, start + Self.limit)
        let head = start > 0 ? "…" : ""
        text = head + VisibleText.escaped(String(characters[start..<end])) + (end < characters.count ? "…" : "")
        guard let range else {
            marks = nil
            return
        }
        // Tabs stay, so that the marks align.
        let lower = min(max(range.lowerBound, start), end)
        let before = head + VisibleText.escaped(String(characters[start..<lower]))
        let count = max(1, min(range.upperBound, end) - lower)
        marks = String(before.map { $0.is("\t") ? "\t" : " " }) + String(repeating: "^", count: count)
    }
}
