import Wording

/// The list of candidates below the text, with its selection.
struct CompletionMenu: Sendable {
    let candidates: [Candidate]
    /// The selected candidate, which is inserted in the text; nil without a selection.
    private(set) var selection: Int?
    /// The first candidate that is visible.
    private var first = 0

    init(_ candidates: [Candidate]) { self.candidates = candidates }

    var selected: Candidate? { selection.map { candidates[$0] } }

    /// Moves the selection by a number of candidates, cyclically.
    mutating func advance(by step: Int) {
        guard !candidates.isEmpty else { return }
        guard let current = selection else {
            selection = step > 0 ? 0 : candidates.count - 1
            return
        }
        let next = (current + step) % candidates.count
        selection = next < 0 ? next + candidates.count : next
    }

    /// The lines to show, limited in number; the renderer truncates each.
    ///
    /// With documented candidates, the last line is the documentation, empty without a selection.
    mutating func lines(height: Int, columns: Int) -> [StyledText] {
        let isDocumented = height > 2 && candidates.contains { !$0.documentation.isEmpty }
        let height = max(1, isDocumented ? height - 1 : height)
        let hasMore = candidates.count > height
        let visible = hasMore ? max(1, height - 1) : candidates.count
        if let selection {
            first = min(max(first, selection - visible + 1), selection)
        }
        first = max(0, min(first, candidates.count - visible))
        let shown = first..<first + visible
        var labelWidth = 0
        for candidate in candidates[shown] { labelWidth = max(labelWidth, DisplayWidth.of(candidate.label)) }
        labelWidth = min(labelWidth, max(8, columns / 2))
        let kindWidth = candidates[shown].reduce(0) { max($0, $1.kind.rawValue.count) }
        var lines = shown.map { line($0, labelWidth: labelWidth, kindWidth: kindWidth) }
        if hasMore, height > 1 {
            lines.append(StyledText("  \(first + 1)–\(first + visible) of \(candidates.count)", .menuDetail))
        }
        if isDocumented, let documentation = selected?.documentation, !documentation.isEmpty {
            let line = documentation.prefix { !$0.isNewline }
            lines.append(StyledText("  " + line, .notice))
        }
        return lines
    }

    private func line(_ index: Int, labelWidth: Int, kindWidth: Int) -> StyledText {
        let candidate = candidates[index]
        let isSelected = index == selection
        var line = StyledText()
        // The mark shows the selection on a terminal without colours.
        line.append(isSelected ? "▸ " : "  ", .menuText)
        line.append(Self.padded(candidate.label, to: labelWidth), isSelected ? .menuSelection : .menuText)
        if kindWidth > 0 { line.append("  " + Self.padded(candidate.kind.rawValue, to: kindWidth), .menuKind) }
        if !candidate.detail.isEmpty { line.append("  " + candidate.detail, .menuDetail) }
        return line
    }

    /// A text padded to a number of columns, or truncated with an ellipsis.
    private static func padded(_ text: String, to width: Int) -> String {
        let own = DisplayWidth.of(text)
        if own <= width { return text + String(repeating: " ", count: width - own) }
        var cut = ""
        var column = 0
        for character in text {
            let next = column + DisplayWidth.of(character)
            if next > width - 1 { break }
            cut.append(character)
            column = next
        }
        return cut + "…" + String(repeating: " ", count: max(0, width - 1 - column))
    }
}
