/// The candidates for a position.
public struct CompletionResult: Hashable, Sendable {
    /// The replaced range in UTF-8 bytes; it ends at or before the end of the cursor's word.
    public var replacement: Range<Int>
    /// The candidates in display order.
    public var candidates: [Candidate]

    /// Creates a result: candidates for a range of the text.
    public init(replacement: Range<Int>, candidates: [Candidate]) {
        self.replacement = replacement
        self.candidates = candidates
    }

    /// The common prefix of all candidates' texts.
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
