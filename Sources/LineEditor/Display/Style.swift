/// What a piece of text is. A ``Palette`` says how it looks.
public enum Style: UInt8, Hashable, Sendable, CaseIterable {
    case plain
    // Of a language.
    case keyword, constant, number, string, escape, comment, function, field, variable, type, `operator`, punctuation
    case error
    // Of the editor.
    case prompt, continuationPrompt, suggestion, matchingBracket, unmatchedBracket, searchPrompt, searchMatch
    case menuText, menuSelection, menuKind, menuDetail, notice
    // Of what a host prints.
    case heading, emphasis, warning, success, dimmed
}
