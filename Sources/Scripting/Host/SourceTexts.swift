/// The texts of the chunks that ran, so that an error can show the line that it speaks of.
public struct SourceTexts {
    private var texts: [String: String] = [:]

    public init() {}

    /// Remembers a chunk under the name that messages show.
    public mutating func remember(_ text: String, as name: String) {
        texts[name] = text
    }

    /// A line of a chunk, from 1; linear in the text.
    public func line(_ number: Int, of name: String) -> Substring? {
        guard let text = texts[name], number >= 1 else { return nil }
        let lines = text.split(separator: "\n", maxSplits: number, omittingEmptySubsequences: false)
        return number <= lines.count ? lines[number - 1] : nil
    }
}
