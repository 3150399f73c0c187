/// "Did you mean": the known names that a misspelt one is a slip or two away from.
public enum NearestNames {
    /// The nearest names, best first: at most three, none that needs more than a third of its letters changed.
    ///
    /// - Complexity: O(candidates × length²)
    public static func find(for name: String, among candidates: some Sequence<String>) -> [String] {
        let letters = Array(name.lowercased().unicodeScalars)
        let limit = max(1, (letters.count + 1) / 3)
        return
            candidates
            .compactMap { candidate -> (String, Int)? in
                guard candidate != name else { return nil }
                let distance = Self.distance(letters, Array(candidate.lowercased().unicodeScalars), limit: limit)
                return distance <= limit ? (candidate, distance) : nil
            }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            .prefix(3).map(\.0)
    }

    /// The end of an error message: `; did you mean 'name'?`, or nothing.
    public static func hint(for name: String, among candidates: some Sequence<String>) -> String {
        let names = find(for: name, among: candidates)
        guard !names.isEmpty else { return "" }
        return "; did you mean \(names.map { "'\($0)'" }.joined(separator: " or "))?"
    }

    /// Whether one slip leads from one name to the other: a letter left out, added or changed, or two swapped.
    public static func isOneSlip(_ a: String, _ b: String) -> Bool {
        distance(Array(a.unicodeScalars), Array(b.unicodeScalars), limit: 2) == 1
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (Damerau's restricted distance).
    static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar], limit: Int) -> Int {
        guard abs(a.count - b.count) <= limit else { return limit + 1 }
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var before: [Int] = []
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                row[j] = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], before[j - 2] + 1) }
            }
            before = previous
            previous = row
        }
        return previous[b.count]
    }
}
