/// `quit`, `exit()`, `help`: plain words typed for a command.
enum PlainWord {
    /// The command that an entry means.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - isDefined: whether the session has a variable of a name; it takes precedence.
    /// - Returns: the command's name; nil for any other entry.
    static func command(_ entry: String, isDefined: (String) -> Bool) -> String? {
        var word = entry.trimmed[...]
        if word.hasSuffix("()") { word = word.dropLast(2) }
        let name = String(word)
        switch name {
        case "quit", "exit": return isDefined(name) ? nil : "quit"
        // Otherwise the host's function would be shown.
        case "help" where entry.trimmed == "help": return "help"
        default: return nil
        }
    }
}
