import PropertyList

/// A command's request to the terminal's side, which has the user's files, editor, history and answers.
struct TerminalRequest: Equatable {
    enum Kind: String {
        /// Asks the question `text`, which is answered with yes or no.
        case confirm
        /// Opens `text` in the user's editor, for the next entry.
        case edit
        /// Writes `text`, a script of `count` entries, to the file of `argument`.
        case save
        /// Reads the file of `argument`.
        case load
        /// Applies `argument` to the history of earlier sessions, or searches it.
        case history
    }

    var kind: Kind
    var argument = ""
    var text = ""
    var count = 0
}

/// The result of a request.
struct TerminalAnswer: Equatable {
    /// Whether the request succeeded, or the question was answered with yes. The terminal's side reports failures.
    var isDone: Bool
    /// A file's text.
    var text = ""
}

/// The encoding for another process.
extension TerminalRequest {
    init?(json bytes: [UInt8]) {
        guard let fields = JSONFields(bytes), let kind = Kind(exactly: fields.text("kind")) else { return nil }
        self.init(
            kind: kind, argument: fields.text("argument"), text: fields.text("text"), count: fields.number("count"))
    }

    var json: [UInt8] {
        JSONFields.encode([
            "kind": .string(kind.rawValue), "argument": .string(argument), "text": .string(text),
            "count": .integer(Int64(count)),
        ])
    }
}

extension TerminalAnswer {
    /// Malformed bytes are a refusal.
    init(json bytes: [UInt8]) {
        let fields = JSONFields(bytes)
        self.init(isDone: fields?.flag("isDone") ?? false, text: fields?.text("text") ?? "")
    }

    var json: [UInt8] { JSONFields.encode(["isDone": .boolean(isDone), "text": .string(text)]) }
}
