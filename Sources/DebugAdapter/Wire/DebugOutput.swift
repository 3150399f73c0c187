import PropertyList

/// Text for the client's console.
struct DebugOutput: Sendable, Hashable {
    /// Where it comes from.
    enum Category: String, Sendable {
        /// The debugger itself.
        case console
        /// What the user must see.
        case important
        case stdout
        case stderr
    }

    let category: Category
    var text: String
    /// The source that wrote it, and the line, as the client wants them.
    var source: JSONValue?
    var line: Int?

    /// Adds a later text of the same place.
    ///
    /// - Returns: false when it is of another place, or this one is long enough.
    mutating func merge(_ other: DebugOutput) -> Bool {
        guard category == other.category, line == other.line, source == other.source, text.utf8.count < 1 << 16 else {
            return false
        }
        text += other.text
        return true
    }

    var body: JSONValue {
        .object([
            "category": .string(category.rawValue), "output": .string(text), "source": source,
            "line": line.map(JSONValue.number),
        ])
    }
}
