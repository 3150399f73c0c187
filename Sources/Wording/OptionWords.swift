/// The names of options in messages: those of scripts, or those of the command line.
///
/// A task local: what reads a file does not know who has named its options.
package enum OptionWords {
    /// Whether the running work was started by a command, whose options its messages name.
    @TaskLocal package static var areOfCommand = false

    /// The words of whoever has started the work.
    ///
    /// - Parameters:
    ///   - script: as scripts have it: `encoding = "utf-16"`.
    ///   - command: as the command line has it: `--encoding utf-16`.
    /// - Returns: one of them.
    package static func choose(_ script: String, _ command: String) -> String { areOfCommand ? command : script }

    /// An option with a text: `table = "a"`, `--table a`.
    package static func option(_ name: String, _ value: String) -> String {
        choose("\(name) = \(value.quoted())", "--\(commandName(name)) \(argument(value))")
    }

    /// The command line's name of an option: `--on-error` for `onError`.
    package static func commandName(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }

    /// A text as an argument of a shell.
    package static func argument(_ text: String) -> String {
        if text == "\t" { return "$'\\t'" }
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte >= 0x80 || "-_/.,=+:%@".utf8.contains(byte)
            }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
