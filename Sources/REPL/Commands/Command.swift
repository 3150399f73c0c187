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
