/// The texts of executed chunks, for the source lines of errors.
package struct SourceTexts {
    private var texts: NameTable<String> = [:]

    package init() {}

    /// Stores a chunk under its name in messages.
    package mutating func remember(_ text: String, as name: String) {
        texts[name] = text
    }

    /// The names of all chunks.
    package var names: [String] { texts.keys.sorted() }

    /// The text of a chunk with a matching name.
    package func text(where fits: (String) -> Bool) -> String? { texts.first { fits($0.key) }?.value }

    /// A line of a chunk, counted from 1; linear in the length of the text.
    package func line(_ number: Int, of name: String) -> Substring? {
        guard let text = texts[name], number >= 1 else { return nil }
        let lines = text.split(separator: "\n", maxSplits: number, omittingEmptySubsequences: false)
        return number <= lines.count ? lines[number - 1] : nil
    }
}
