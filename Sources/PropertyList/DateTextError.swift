import Wording

/// A text that does not follow its pattern: where, what was expected, and what is there.
package struct DateTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Of the first wrong character, from 1.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String {
        let found = found.isEmpty ? "the end" : "'\(VisibleText.line(found))'"
        return "at character \(position) \(expected) is expected, and there is \(found)"
    }
}
