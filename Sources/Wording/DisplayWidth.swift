internal import Synchronization

/// The width of text in terminal columns.
///
/// The unit is the extended grapheme cluster: a letter with its accents is one column, a flag or a family of emoji two.
/// Terminals disagree about clusters of several scalars; ``isReliable(_:)`` tells after which characters the cursor's
/// column is uncertain.
package enum DisplayWidth {
    /// The columns of a narrow character that U+FE0F makes an emoji: two by the widely used rule, one on terminals that
    /// leave it narrow.
    private static let presentation = Atomic(2)

    /// Takes what the terminal was seen to do with a narrow character and U+FE0F: 1 or 2 columns.
    package static func adopt(emojiPresentation columns: Int) { presentation.store(columns, ordering: .relaxed) }

    /// The columns of one character: 0, 1 or 2. A control character has 0, since it is not displayed itself.
    package static func of(_ character: Character) -> Int {
        of(character, emojiPresentation: presentation.load(ordering: .relaxed))
    }

    static func of(_ character: Character, emojiPresentation: Int) -> Int {
        if let ascii = character.asciiValue {
            // The character "\r\n" has the ASCII value of the line feed.
            return ascii >= 0x20 && ascii < 0x7F ? 1 : 0
        }
        var widest = 0
        var regionalIndicators = 0
        for scalar in character.unicodeScalars {
            if scalar.value == 0xFE0F, widest == 1, hasEmojiPresentationSequence(character) {
                return emojiPresentation
            }
            if (0x1F1E6...0x1F1FF).contains(scalar.value) { regionalIndicators += 1 }
            widest = max(widest, of(scalar))
        }
        return regionalIndicators >= 2 ? 2 : widest
    }

    /// The columns of a string without line breaks.
    package static func of(_ text: some StringProtocol) -> Int {
        var total = 0
        for character in text { total += of(character) }
        return total
    }

    /// The columns of a single scalar, as in `wcwidth`: 0 for combining and invisible ones.
    package static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x7F { return value >= 0x20 ? 1 : 0 }
        if value < 0xA0 { return 0 }
        if value < 0x300 { return value == 0xAD ? 0 : 1 }
        // The vowels and final consonants of a decomposed Hangul syllable have no width.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
        if WideRanges.contains(scalar) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
        default: return 1
        }
    }

    /// Whether all terminals agree on the width: single scalars, and a base with combining marks.
    package static func isReliable(_ character: Character) -> Bool {
        if character.utf8.count == 1 { return true }
        var bases = 0
        for scalar in character.unicodeScalars {
            if scalar.value == 0xFE0F || scalar.value == 0x200D { return false }
            if of(scalar) > 0 { bases += 1 }
        }
        return bases <= 1
    }

    /// Maximum width on any terminal: some add up the scalars of a cluster.
    package static func upperBound(_ character: Character) -> Int {
        if character.utf8.count == 1 { return of(character) }
        var total = 0
        for scalar in character.unicodeScalars { total += of(scalar) }
        return max(total, of(character))
    }

    private static func hasEmojiPresentationSequence(_ character: Character) -> Bool {
        guard let base = character.unicodeScalars.first else { return false }
        return base.properties.isEmoji
    }
}
