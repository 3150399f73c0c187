/// The candidates for a place in the text.
public struct CompletionResult: Hashable, Sendable {
    /// What a candidate replaces, in UTF-8 bytes; it ends at or before the cursor's end of the word.
    public var replacement: Range<Int>
    /// The candidates, in the order to show them.
    public var candidates: [Candidate]

    public init(replacement: Range<Int>, candidates: [Candidate]) {
        self.replacement = replacement
        self.candidates = candidates
    }

    /// The beginning that all candidates' texts have in common.
    public var commonPrefix: String {
        guard var prefix = candidates.first?.text else { return "" }
        for candidate in candidates.dropFirst() {
            prefix = prefix.commonPrefix(with: candidate.text)
            if prefix.isEmpty { break }
        }
        return prefix
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        var end = startIndex
        var theirs = other.startIndex
        while end < endIndex, theirs < other.endIndex, self[end] == other[theirs] {
            end = index(after: end)
            theirs = other.index(after: theirs)
        }
        return String(self[..<end])
    }
}
