import Wording

/// The kind of an entry: a command, a question for help, or Lua.
enum EntryKind {
    case command(CommandLine)
    case question(HelpQuestion)
    case lua

    /// - Parameters:
    ///   - text: the entry.
    ///   - isDefined: whether the session has a variable of a name: a plain word for a command is then Lua.
    init(_ text: String, isDefined: (String) -> Bool) {
        let word = PlainWord.command(text, isDefined: isDefined)
        if let command = CommandLine.parse(word.map { ":" + $0 } ?? text) {
            self = .command(command)
        } else if let question = HelpQuestion(text) {
            self = .question(question)
        } else {
            self = .lua
        }
    }

    /// Whether it is Lua: only Lua entries are numbered.
    var isLua: Bool { if case .lua = self { true } else { false } }
}
