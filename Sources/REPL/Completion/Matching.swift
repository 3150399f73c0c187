/// Matches names by prefix; case is ignored when there is no exact match.
enum Matching {
    static func matches(_ name: String, _ word: String) -> Bool {
        var ours = name.utf8.makeIterator()
        for byte in word.utf8 {
            guard let other = ours.next(), fold(other) == fold(byte) else { return false }
        }
        return true
    }

    /// The elements with the word as prefix; without any, those that match in another case.
    static func filter<Element>(_ elements: [Element], by word: String, name: (Element) -> String) -> [Element] {
        guard !word.isEmpty else { return elements }
        let exact = elements.filter { name($0).utf8.starts(with: word.utf8) }
        return exact.isEmpty ? elements.filter { matches(name($0), word) } : exact
    }

    /// Orders names alphabetically without case; names with a leading underscore come last.
    static func isBefore(_ a: String, _ b: String) -> Bool {
        let hidden = (a.hasPrefix("_"), b.hasPrefix("_"))
        if hidden.0 != hidden.1 { return hidden.1 }
        let folded = (a.lowercased(), b.lowercased())
        return folded.0 == folded.1 ? a < b : folded.0 < folded.1
    }

    private static func fold(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
