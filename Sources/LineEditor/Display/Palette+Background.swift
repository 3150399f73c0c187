/// Palettes for a known background. Their colours are fixed ones of xterm's 256, so that their contrast is known: at
/// least 4.5 : 1, WCAG 2's minimum for text, on black and usual dark backgrounds, or on white and usual light ones.
extension Palette {
    package static let dark = Palette([
        .keyword: "38;5;176", .constant: "38;5;80", .number: "38;5;80", .string: "38;5;114", .escape: "38;5;156",
        .comment: "3;38;5;246", .function: "38;5;75", .type: "38;5;179", .error: "38;5;210", .prompt: "1;38;5;75",
        .continuationPrompt: "38;5;246", .suggestion: "38;5;246", .matchingBracket: "1;4",
        .unmatchedBracket: "1;38;5;210", .searchPrompt: "1;38;5;221", .searchMatch: "7", .menuSelection: "7",
        .menuKind: "38;5;80", .menuDetail: "38;5;246", .notice: "38;5;246", .heading: "1", .emphasis: "1",
        .warning: "38;5;221", .success: "38;5;114", .dimmed: "38;5;246",
    ])

    package static let light = Palette([
        .keyword: "38;5;90", .constant: "38;5;24", .number: "38;5;24", .string: "38;5;22", .escape: "38;5;23",
        .comment: "3;38;5;241", .function: "38;5;25", .type: "38;5;94", .error: "38;5;124", .prompt: "1;38;5;25",
        .continuationPrompt: "38;5;241", .suggestion: "38;5;241", .matchingBracket: "1;4",
        .unmatchedBracket: "1;38;5;124", .searchPrompt: "1;38;5;94", .searchMatch: "7", .menuSelection: "7",
        .menuKind: "38;5;24", .menuDetail: "38;5;241", .notice: "38;5;241", .heading: "1", .emphasis: "1",
        .warning: "38;5;94", .success: "38;5;22", .dimmed: "38;5;241",
    ])

    /// The palette for a background and a terminal with 256 colours. One with fewer keeps the colours of its theme.
    ///
    /// - Parameters:
    ///   - background: the terminal's; nil if it is not known.
    ///   - environment: reads a variable.
    /// - Returns: the palette.
    package static func colored(for background: TerminalBackground?, environment: (String) -> String?) -> Palette {
        guard has256Colors(environment) else { return .standard }
        return switch background {
        case .dark: .dark
        case .light: .light
        case nil: .standard
        }
    }

    private static func has256Colors(_ environment: (String) -> String?) -> Bool {
        if environment("COLORTERM").map({ !$0.isEmpty }) ?? false { return true }
        let term = environment("TERM") ?? ""
        return term.contains("256color") || term.contains("direct") || TerminalCapabilities.isModern(term)
    }
}
