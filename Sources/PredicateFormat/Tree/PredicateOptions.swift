/// The options of a text comparison: `[c]`, `[d]` or `[cd]` after its operator.
public struct PredicateOptions: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits of the options.
    public let rawValue: UInt8

    /// Options by their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `[c]`: letters of different case are equal.
    public static let caseInsensitive = PredicateOptions(rawValue: 1)

    /// `[d]`: letters with different accents are equal.
    public static let diacriticInsensitive = PredicateOptions(rawValue: 2)

    /// The notation after an operator: `[cd]`, or nothing.
    public var description: String {
        let letters = (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
