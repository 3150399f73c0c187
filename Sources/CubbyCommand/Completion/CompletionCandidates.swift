import ArgumentParser

/// Candidates for a shell, in the notation that its script expects.
enum CompletionCandidates {
    /// The word being completed, without quotes.
    ///
    /// - Parameters:
    ///   - words: the command line.
    ///   - index: the word's index in it.
    ///   - prefix: the word up to the cursor; zsh's script starts at the last space, even within quotes.
    ///   - shell: the requesting shell.
    /// - Returns: the text that candidates begin with.
    static func typed(
        _ words: [String], _ index: Int, _ prefix: String, in shell: CompletionShell? = .requesting
    ) -> String {
        let word = shell == .zsh && words.indices.contains(index) ? words[index] : prefix
        // fish before version 4 has removed the quotes.
        return shell == .fish && !word.hasPrefix("'") && !word.hasPrefix("\"") ? word : unquoted(word)
    }

    /// Names of fields and folders are data. Those with control characters are left out, and those with a character
    /// that bash does not escape and would expand.
    static func escaped(_ words: [String], for shell: CompletionShell? = .requesting) -> [String] {
        let fitting = words.filter { word in
            !word.unicodeScalars.contains {
                $0.properties.generalCategory == .control || "$`".unicodeScalars.contains($0)
            }
        }
        // In zsh a colon separates a description.
        guard shell == .zsh else { return fitting }
        return fitting.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
    }

    /// A word of a command line without shell quotes and escapes; a quote may be unclosed.
    static func unquoted(_ word: String) -> String {
        var text = ""
        var quote: Character?
        var isEscaped = false
        for character in word {
            if isEscaped {
                text.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, "\"'".contains(character) {
                quote = character
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// The value of an option on a command line.
    static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix(option + "=") { return unquoted(String(word.dropFirst(option.count + 1))) }
            guard word == option, index + 1 < words.count else { continue }
            // bash passes the equals sign as a separate word.
            let value = words[index + 1] == "=" ? words.dropFirst(index + 2).first : words[index + 1]
            return value.map(unquoted)
        }
        return nil
    }
}
