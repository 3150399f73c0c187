// Canonical decomposition: see PredicateFolding.
@_spi(_Unicode) import Swift

/// A regular expression for one thread, outside of predicates: linear in the text, as that of `MATCHES`.
package final class TextPattern {
    private let pattern: PredicatePattern
    private let matcher: PatternMatcher

    /// Compiles an expression.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - isWhole: whether the whole text has to match; else a part of it.
    /// - Throws: `TextPatternError` for a text that is not an expression.
    package init(_ text: String, isWhole: Bool) throws(TextPatternError) {
        do throws(PredicatePattern.Failure) {
            // Checked alone first: a bracket too many would close that of the search.
            _ = try PredicatePattern(text, [])
            pattern = try PredicatePattern(isWhole ? text : "(?s:.*)(?:\(text))(?s:.*)", [])
        } catch {
            throw TextPatternError(description: "\(text.quoted()) is not a regular expression: \(error.reason)")
        }
        matcher = pattern.makeMatcher()
    }

    /// Whether a text matches.
    package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool { pattern.matches(text, by: matcher) }
}

/// A text that is not a regular expression.
package struct TextPatternError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

/// Texts without what people do not tell apart.
package enum TextFolding {
    /// A text without its accents; characters without one stay as they are.
    package static func unaccented(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value < 0xC0 {
                result.append(scalar)
                continue
            }
            let parts = Array(String(scalar)._nfd)
            let letters = parts.filter { $0.properties.generalCategory != .nonspacingMark }
            if letters.count == parts.count { result.append(scalar) } else { result.append(contentsOf: letters) }
        }
        return String(result)
    }
}
