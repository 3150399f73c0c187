import PropertyList

/// Text for the client's console.
struct DebugOutput: Sendable, Hashable {
    /// The origin of the text.
    enum Category: String, Sendable {
        /// The debugger itself.
        case console
        /// A message that the user must see.
        case important
        case stdout
        case stderr
    }

    let category: Category
    var text: String
    /// The source and the line that wrote it, in the client's form.
    var source: JSONValue?
    var line: Int?

    /// Appends a later text from the same place.
    ///
    /// - Returns: false if it is from another place, or this text is long enough.
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
