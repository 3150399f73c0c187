/// The texts of the chunks that ran, so that an error can show the line that it speaks of.
public struct SourceTexts {
    private var lines: [String: [Substring]] = [:]

    public init() {}

    /// Remembers a chunk under the name that messages show.
    public mutating func remember(_ text: String, as name: String) {
        lines[name] = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// A line of a chunk, from 1.
    public func line(_ number: Int, of name: String) -> Substring? {
        guard let lines = lines[name], number >= 1, number <= lines.count else { return nil }
        return lines[number - 1]
    }
}
