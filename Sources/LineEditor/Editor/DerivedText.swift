/// Values derived from the text, cached until the text changes.
struct DerivedText {
    private var revision = -1
    private var text = ""
    private var spans: [Span]?
    private var suggestion: (text: String?, isKnown: Bool) = (nil, false)

    mutating func text(of buffer: EditBuffer) -> String {
        update(buffer)
        return text
    }

    mutating func spans(of buffer: EditBuffer, _ services: EditorServices) -> [Span] {
        update(buffer)
        if let spans { return spans }
        let new = buffer.isEmpty ? [] : services.highlight(text)
        spans = new
        return new
    }

    /// The suggestion for the text; nil for a blank one.
    mutating func suggestion(of buffer: EditBuffer, _ services: EditorServices, _ history: History?) -> String? {
        update(buffer)
        if suggestion.isKnown { return suggestion.text }
        var found: String?
        if !text.allSatisfy(\.isWhitespace) {
            if let suggest = services.suggest {
                found = suggest(text)
            } else if let history, let index = history.newest(withPrefix: text) {
                found = String(decoding: history.entries[index].utf8.dropFirst(text.utf8.count), as: UTF8.self)
            }
        }
        if found?.isEmpty ?? false { found = nil }
        suggestion = (found, true)
        return found
    }

    private mutating func update(_ buffer: EditBuffer) {
        guard revision != buffer.revision else { return }
        revision = buffer.revision
        text = buffer.text
        spans = nil
        suggestion = (nil, false)
    }
}
