import Wording

/// A line of source below an error's message, with marks below the characters that it is about.
struct SourceExcerpt {
    let text: String
    /// Blanks and carets; nil when nothing is marked.
    let marks: String?
    /// The most characters that are shown: a line of a generated file is cut around its marks.
    private static let limit = 160

    /// Nil for a line that is no text: bytes of a binary file, or control characters other than tabs.
    ///
    /// - Parameters:
    ///   - line: the line, without its break.
    ///   - range: the characters that are marked, if any.
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
        // Tabs stay, so that the marks stand where the words do.
        let lower = min(max(range.lowerBound, start), end)
        let before = head + VisibleText.escaped(String(characters[start..<lower]))
        let count = max(1, min(range.upperBound, end) - lower)
        marks = String(before.map { $0 == "\t" ? "\t" : " " }) + String(repeating: "^", count: count)
    }
}
