/// The entries of a session, with what came of them.
struct SessionRecord {
    struct Entry {
        let number: Int
        let text: String
        let hasWorked: Bool
        /// What the prompt showed, nothing for statements.
        let result: String
        /// Whether it stands as a statement, or only as a value.
        let isExpression: Bool
    }

    private(set) var entries: [Entry] = []

    mutating func add(_ entry: Entry) { entries.append(entry) }

    /// The entry of a number, or the latest.
    func entry(_ number: Int?) -> Entry? {
        guard let number else { return entries.last }
        return entries.last { $0.number == number }
    }

    /// The entries that worked as a script: values are printed, what they were stands below as a comment.
    func script() -> String {
        var text = "-- Saved from a session at the prompt.\n"
        for entry in entries where entry.hasWorked {
            let source = entry.text.trimmed
            let statement = source.hasPrefix("=") ? String(source.dropFirst()).trimmed : source
            text += "\n" + (entry.isExpression ? "print(\(statement))" : statement) + "\n"
            for line in entry.result.split(separator: "\n").prefix(20) { text += "--> \(line)\n" }
        }
        return text
    }
}
