extension Int {
    /// The number with its noun: `1 item`, `28,143 items`.
    ///
    /// - Parameters:
    ///   - one: the noun in the singular.
    ///   - many: the noun in the plural; by English rules if not given.
    /// - Returns: the number, grouped by thousands, and the noun.
    package func counted(_ one: String, _ many: String? = nil) -> String { "\(grouped) \(word(one, many))" }

    /// The noun alone, in the form for the number.
    package func word(_ one: String, _ many: String? = nil) -> String {
        self == 1 || self == -1 ? one : many ?? Self.plural(of: one)
    }

    private static func plural(of word: String) -> String {
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
            return word.dropLast() + "ies"
        }
        return ["s", "x", "ch", "sh"].contains(where: word.hasSuffix) ? word + "es" : word + "s"
    }
}

extension String {
    /// The word after its indefinite article: `an Item`, `a query`, `a UUID`.
    package var withArticle: String { (startsWithVowelSound ? "an " : "a ") + self }

    private var startsWithVowelSound: Bool {
        let lowered = lowercased()
        // Pronounced "you" or spelled out: `a URL`, `a UUID`, `an XML file`.
        if ["uni", "use", "usa", "uu", "url", "utf", "uid", "one"].contains(where: lowered.hasPrefix) { return false }
        if ["XML", "HTML", "NS", "SVG", "LRU", "hour", "honest"].contains(where: hasPrefix) { return true }
        return lowered.first.map { "aeiou".contains($0) } ?? false
    }
}
