/// The names of options in messages: those of scripts, of the command line, or of a file that a statement of SQL reads.
///
/// A task local: what reads a file does not know who has named its options.
package enum OptionWords {
    /// Whether the running work was started by a command, whose options its messages name.
    @TaskLocal package static var areOfCommand = false

    /// The table of a file that a statement of SQL reads.
    package struct FileTable: Sendable {
        /// The function that reads files of its format.
        private let function: String
        private let path: String
        /// The functions for all formats.
        private let functions: [String]

        package init(_ function: String, path: String, functions: [String]) {
            (self.function, self.path, self.functions) = (function, path, functions)
        }

        private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

        /// The table with an option of JSON.
        fileprivate func text(_ option: String) -> String {
            "\(function)(\(Self.literal(path)), \(Self.literal("{\(option)}")))"
        }

        /// The way to a file of another format.
        fileprivate func text(format: String) -> String {
            if functions.contains(format) { return "\(format)(\(Self.literal(path)))" }
            return format == "sqlite" ? "sql.attach(\"name\", \(path.quoted()))" : "items:import(\(path.quoted()))"
        }
    }

    /// The table that the running work reads; nil outside of statements.
    @TaskLocal package static var table: FileTable?

    /// The words of whoever has started the work.
    ///
    /// - Parameters:
    ///   - script: as scripts have it: `encoding = "utf-16"`.
    ///   - command: as the command line has it: `--encoding utf-16`.
    ///   - json: as the options of a table have it: `"encoding": "utf-16"`; nil for words that are not an option.
    /// - Returns: one of them.
    package static func choose(_ script: String, _ command: String, json: String?) -> String {
        if let table { return json.map { table.text($0) } ?? script }
        return areOfCommand ? command : script
    }

    /// An option with a text: `table = "a"`, `--table a`, `csv('PATH', '{"null": "a"}')`.
    package static func option(_ name: String, _ value: String) -> String {
        if let table, name == "format" { return table.text(format: value) }
        return choose(
            "\(name) = \(value.quoted())", "--\(commandName(name)) \(argument(value))",
            json: "\(name.quoted()): \(value.quoted())")
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
