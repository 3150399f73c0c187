import Lua
import Wording

/// A command of the prompt, for listing and completion.
struct Command: Sendable {
    /// The kind of its argument, for completion.
    enum Completion: Sendable {
        case nothing, files, lua, commands, fields
        case words([String])
    }

    let name: String
    let arguments: String
    let documentation: String
    var completion = Completion.nothing

    /// All commands in listing order.
    static let all = general + atBreak

    static let general: [Command] = [
        Command(
            name: "help", arguments: "[name]", documentation: "These commands, or what is known of a name.",
            completion: .lua),
        Command(
            name: "tutorial", arguments: "[lesson]",
            documentation: "Twelve short lessons that check what you type; off ends them.",
            completion: .words(["next", "again", "off"])),
        Command(
            name: "time", arguments: "[entry]",
            documentation: "How long an entry takes; without one, after every entry or no more.", completion: .lua),
        Command(
            name: "profile", arguments: "ENTRY", documentation: "Runs an entry, and shows where its time went.",
            completion: .lua),
        Command(
            name: "bench", arguments: "ENTRY", documentation: "Runs an entry again and again: how long a run takes.",
            completion: .lua),
        Command(
            name: "edit", arguments: "[number]", documentation: "The last entry, or an earlier one, in your $EDITOR."),
        Command(
            name: "save", arguments: "FILE",
            documentation: "The entries that worked as a script, with their results as comments.", completion: .files),
        Command(
            name: "load", arguments: "FILE", documentation: "Runs a file as if it were typed here.",
            completion: .files),
        Command(name: "hooks", arguments: "", documentation: "The handlers: calls, errors, and the longest time."),
        Command(name: "errors", arguments: "", documentation: "The latest errors of handlers and timers."),
        Command(name: "undo", arguments: "", documentation: "Takes back what the last entry changed in the items."),
        Command(name: "redo", arguments: "", documentation: "Does again what :undo took back."),
        Command(
            name: "history", arguments: "[text|on|off|clear]",
            documentation: "Earlier entries; off keeps new ones out of the file.",
            completion: .words(["on", "off", "clear"])),
        Command(name: "img", arguments: "[item or image]", documentation: "Draws a picture.", completion: .lua),
        Command(
            name: "out", arguments: "[table|lua|json|csv]", documentation: "How results are shown.",
            completion: .words(["table", "lua", "json", "csv"])),
        Command(
            name: "columns", arguments: "[fields|*]",
            documentation: "The columns of tables, remembered; with * those that differ again.", completion: .fields),
        Command(
            name: "break", arguments: "[FILE:LINE|off|error]",
            documentation: "Breaks at a line, or at errors; alone, lists the breakpoints.",
            completion: .words(["off all", "error", "error all", "error off"])),
        Command(
            name: "debug", arguments: "ENTRY", documentation: "Runs an entry, and breaks at its first line.",
            completion: .lua),
        Command(name: "doctor", arguments: "", documentation: "What the terminal, the container and the sandbox are."),
        Command(name: "quit", arguments: "", documentation: "Saves, and leaves. Ctrl-D does the same."),
    ]

    /// A line for each command.
    static func table(_ commands: [Command]) -> String {
        let usages = commands.map { ":\($0.name) \($0.arguments)" }
        let width = (usages.map(\.count).max() ?? 0) + 2
        return zip(usages, commands).map { usage, command in
            "  \(usage)\(String(repeating: " ", count: width - usage.count))\(command.documentation)\n"
        }.joined()
    }

    private static let synonyms = [
        "q": "quit", "exit": "quit", "h": "help", "t": "time", "hist": "history",
        "n": "next", "s": "step", "c": "continue",
    ]

    /// The command of a name or an abbreviation.
    static func named(_ name: String) -> Command? {
        let name = synonyms[name] ?? name
        return all.first { $0.name == name }
    }
}

/// The commands at a break.
extension Command {
    /// In listing order; `:out` and an empty line also work there.
    static let atBreak: [Command] = [
        Command(
            name: "watch", arguments: "[EXPRESSION|off]", documentation: "Shows an expression at each break.",
            completion: .lua),
        Command(
            name: "next", arguments: "",
            documentation: "Runs to the next line of the function; an empty line repeats it."),
        Command(name: "step", arguments: "", documentation: "Runs to the next line, also in called functions."),
        Command(
            name: "continue", arguments: "", documentation: "Continues, as Ctrl-D does. :out runs to the caller."),
        Command(name: "stop", arguments: "", documentation: "Stops the script, as Ctrl-C does."),
        Command(name: "where", arguments: "", documentation: "The active functions."),
        Command(name: "up", arguments: "", documentation: "Selects the function that called this one."),
        Command(name: "down", arguments: "", documentation: "Selects the function that this one called."),
        Command(name: "locals", arguments: "", documentation: "The local variables of the function."),
        Command(
            name: "upvalues", arguments: "",
            documentation: "Its variables of enclosing functions. Any other line is evaluated in the function."),
    ]

    /// Whether the debugger executes it.
    var isOfDebugger: Bool { ["break", "debug"].contains(name) || Self.atBreak.contains { $0.name == name } }
}

/// An entry that is a command of the prompt and not Lua: `:time #items`.
struct CommandLine: Equatable {
    /// The word after the colon.
    let name: String
    /// The text after the word.
    let rest: String
    /// The range of the colon and the word, in UTF-8 bytes.
    let nameRange: Range<Int>
    /// The offset of `rest`.
    let restOffset: Int

    /// Nil for Lua: no statement begins with a single colon.
    static func parse(_ text: String) -> CommandLine? {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") else { return nil }
        // `::label::` is Lua.
        if start + 1 < bytes.count, bytes[start + 1] == UInt8(ascii: ":") { return nil }
        var end = start + 1
        while end < bytes.count, LuaName.isPart(bytes[end]) { end += 1 }
        var rest = end
        while rest < bytes.count, bytes[rest] == 0x20 || bytes[rest] == 0x09 { rest += 1 }
        var last = bytes.count
        while last > rest, bytes[last - 1] == 0x20 || (0x09...0x0D).contains(bytes[last - 1]) { last -= 1 }
        return CommandLine(
            name: String(decoding: bytes[start + 1..<end], as: UTF8.self),
            rest: String(decoding: bytes[rest..<last], as: UTF8.self), nameRange: start..<end, restOffset: rest)
    }
}

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
