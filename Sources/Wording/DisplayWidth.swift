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
        // Most texts are printable ASCII, a column a byte.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }
        if isPlain ?? false { return text.utf8.count }
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

/// The ranges whose East Asian Width is Wide or Fullwidth.
///
/// Derived from `EastAsianWidth.txt` of the Unicode Character Database 15.0 (with the unassigned code points of the CJK
/// planes wide, as in Unicode Standard Annex 11), plus the symbols that Unicode 16 made wide (U+2630…2637,
/// U+268A…268F, U+4DC0…4DFF, U+1D300…1D376) and the pictographs reserved in U+1FA70…1FAFF.
enum WideRanges {
    /// Whether the scalar has two columns. Complexity: logarithmic in the 118 ranges.
    static func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        guard value >= 0x1100 else { return false }
        var low = 0
        var high = table.count
        while low < high {
            let middle = (low + high) / 2
            let range = table[middle]
            if value < range.0 {
                high = middle
            } else if value > range.1 {
                low = middle + 1
            } else {
                return true
            }
        }
        return false
    }

    private static let table: [(UInt32, UInt32)] = [
        (0x1100, 0x115F), (0x231A, 0x231B), (0x2329, 0x232A), (0x23E9, 0x23EC), (0x23F0, 0x23F0), (0x23F3, 0x23F3),
        (0x25FD, 0x25FE), (0x2614, 0x2615), (0x2630, 0x2637), (0x2648, 0x2653), (0x267F, 0x267F), (0x268A, 0x268F),
        (0x2693, 0x2693), (0x26A1, 0x26A1), (0x26AA, 0x26AB), (0x26BD, 0x26BE), (0x26C4, 0x26C5), (0x26CE, 0x26CE),
        (0x26D4, 0x26D4), (0x26EA, 0x26EA), (0x26F2, 0x26F3), (0x26F5, 0x26F5), (0x26FA, 0x26FA), (0x26FD, 0x26FD),
        (0x2705, 0x2705), (0x270A, 0x270B), (0x2728, 0x2728), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755),
        (0x2757, 0x2757), (0x2795, 0x2797), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50),
        (0x2B55, 0x2B55), (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x2FF0, 0x2FFB), (0x3000, 0x303E),
        (0x3041, 0x3096), (0x3099, 0x30FF), (0x3105, 0x312F), (0x3131, 0x318E), (0x3190, 0x31E3), (0x31F0, 0x321E),
        (0x3220, 0x3247), (0x3250, 0xA48C), (0xA490, 0xA4C6), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xF900, 0xFAFF),
        (0xFE10, 0xFE19), (0xFE30, 0xFE52), (0xFE54, 0xFE66), (0xFE68, 0xFE6B), (0xFF01, 0xFF60), (0xFFE0, 0xFFE6),
        (0x16FE0, 0x16FE4), (0x16FF0, 0x16FF1), (0x17000, 0x187F7), (0x18800, 0x18CD5), (0x18D00, 0x18D08),
        (0x1AFF0, 0x1AFF3), (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B122), (0x1B132, 0x1B132),
        (0x1B150, 0x1B152), (0x1B155, 0x1B155), (0x1B164, 0x1B167), (0x1B170, 0x1B2FB), (0x1D300, 0x1D356),
        (0x1D360, 0x1D376), (0x1F004, 0x1F004), (0x1F0CF, 0x1F0CF), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A),
        (0x1F200, 0x1F202), (0x1F210, 0x1F23B), (0x1F240, 0x1F248), (0x1F250, 0x1F251), (0x1F260, 0x1F265),
        (0x1F300, 0x1F320), (0x1F32D, 0x1F335), (0x1F337, 0x1F37C), (0x1F37E, 0x1F393), (0x1F3A0, 0x1F3CA),
        (0x1F3CF, 0x1F3D3), (0x1F3E0, 0x1F3F0), (0x1F3F4, 0x1F3F4), (0x1F3F8, 0x1F43E), (0x1F440, 0x1F440),
        (0x1F442, 0x1F4FC), (0x1F4FF, 0x1F53D), (0x1F54B, 0x1F54E), (0x1F550, 0x1F567), (0x1F57A, 0x1F57A),
        (0x1F595, 0x1F596), (0x1F5A4, 0x1F5A4), (0x1F5FB, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F6CC, 0x1F6CC),
        (0x1F6D0, 0x1F6D2), (0x1F6D5, 0x1F6D7), (0x1F6DC, 0x1F6DF), (0x1F6EB, 0x1F6EC), (0x1F6F4, 0x1F6FC),
        (0x1F7E0, 0x1F7EB), (0x1F7F0, 0x1F7F0), (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1F9FF),
        (0x1FA70, 0x1FAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD),
    ]
}
