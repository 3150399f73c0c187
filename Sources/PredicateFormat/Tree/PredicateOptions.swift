/// The options of a text comparison, as letters after its operator: `[c]`, `[cd]`, `[n]`.
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

    /// `[n]`: the texts are normalized already, and are compared as they are; the other options have no effect.
    public static let normalized = PredicateOptions(rawValue: 4)

    /// `[l]`: texts that a locale does not tell apart are equal, such as é as one character and as two. An order of a
    /// locale is not part of the language.
    public static let localeSensitive = PredicateOptions(rawValue: 8)

    /// The options that change how texts are compared.
    var inForce: PredicateOptions {
        if contains(.normalized) { return [] }
        // Both fold canonically equivalent texts as well.
        let folding = intersection([.caseInsensitive, .diacriticInsensitive])
        return folding.isEmpty ? intersection(.localeSensitive) : folding
    }

    private static let letters: [(Character, PredicateOptions)] = [
        ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localeSensitive),
    ]

    /// The option of a letter; nil for another.
    init?(letter: Character) {
        guard let option = Self.letters.first(where: { $0.0 == letter })?.1 else { return nil }
        self = option
    }

    /// The notation after an operator: `[cd]`, or nothing.
    public var description: String {
        let letters = String(Self.letters.filter { contains($0.1) }.map(\.0))
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
