/// The role of a piece of text. A ``Palette`` maps it to an appearance.
public enum Style: UInt8, Hashable, Sendable, CaseIterable {
    case plain
    // For source code.
    case keyword, constant, number, string, escape, comment, function, field, variable, type, `operator`, punctuation
    case error
    // For the editor.
    case prompt, continuationPrompt, suggestion, matchingBracket, unmatchedBracket, searchPrompt, searchMatch
    case menuText, menuSelection, menuKind, menuDetail, notice
    // For a host's output.
    case heading, emphasis, warning, success, dimmed
}
