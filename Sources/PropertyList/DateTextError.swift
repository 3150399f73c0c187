import Wording

/// A mismatch of a text and its pattern: the position, the expected and the actual text.
package struct DateTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The position of the first wrong character, from 1.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String {
        let found = found.isEmpty ? "the end" : "'\(VisibleText.line(found))'"
        return "at character \(position) \(expected) is expected, and there is \(found)"
    }
}
