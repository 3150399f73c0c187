import Lua

/// Splits a command into words as the shell does, without expansion.
///
/// Quotes and backslashes have their meaning in the shell. Characters that a shell would interpret are refused, so that
/// a command never has another meaning than in a shell.
enum CommandWords {
    /// Splits a command.
    ///
    /// - Throws: `LuaError` for a character that needs a shell, and for a quote without its end.
    static func split(_ command: String, for function: String) throws(LuaError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var rest = command.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", "'"), ("\"", "\""): quote = nil
            case (_, "'"): word?.unicodeScalars.append(scalar)
            case ("'", nil), ("\"", nil):
                quote = scalar
                word = word ?? ""
            case ("\\", _):
                guard let next = rest.popFirst(), next != "\n" else {
                    throw refusal("a backslash at the end of a line", function)
                }
                // Within double quotes a backslash escapes only characters that are special there.
                let isLiteral = quote != nil && !["\"", "\\", "$", "`"].contains(next)
                word = (word ?? "") + (isLiteral ? "\\" : "")
                word?.unicodeScalars.append(next)
            case ("$", _), ("`", _): throw refusal("'\(scalar)'", function)
            case (_, "\""): word?.unicodeScalars.append(scalar)
            case (" ", _), ("\t", _):
                if let found = word { words.append(found) }
                word = nil
            case _ where operators.contains(scalar), ("~", _) where word == nil, ("#", _) where word == nil:
                throw refusal(scalar == "\n" ? "a line break" : "'\(scalar)'", function)
            default:
                word = word ?? ""
                word?.unicodeScalars.append(scalar)
            }
        }
        if let quote { throw refusal("\(quote) without its end", function) }
        if let word { words.append(word) }
        return words
    }

    private static let operators: Set<Unicode.Scalar> = [
        ";", "|", "&", "<", ">", "(", ")", "*", "?", "[", "\n", "\r",
    ]

    private static func refusal(_ subject: String, _ function: String) -> LuaError {
        LuaError(
            .runtime,
            "\(function): \(subject) needs a shell, and programs that are granted by name are started without one; "
                + "quote what is meant as text, or start with --allow-run, which grants the shell")
    }
}
