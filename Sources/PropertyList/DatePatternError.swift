import Wording

/// An error in a date format pattern.
package struct DatePatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    package enum Code: Sendable, Hashable {
        case unknownField(Character)
        case openQuote
        /// A pattern of more bytes than ``DatePattern/maximumBytes``.
        case tooLong
        /// A field that can be formatted, but not parsed.
        case unparsedField(String)
        case noYear
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    package var description: String {
        switch code {
        case .unknownField(let letter):
            "'\(letter)' is not a field of a date (yyyy, MM, dd, HH, mm, ss, EEE, … ; text goes between apostrophes, and strftime's fields begin with %)"
        case .tooLong: "a pattern of a date has at most \(DatePattern.maximumBytes.grouped) bytes"
        case .openQuote: "an apostrophe is not closed; two of them stand for one"
        case .unparsedField(let field):
            "'\(field)' cannot be parsed (%Y, %m, %d, %H, %M, %S, %y, %b, %B, %a, %A, %j, %I, %p, %z, %Z, %F, %T, %R, %D can)"
        case .noYear: "a date needs a year (%Y or yyyy)"
        }
    }
}
