import Lua

/// A command of the prompt: its name and its documentation, and what it does.
struct Command: Sendable {
    /// The kind of its argument, for completion.
    enum Completion: Sendable {
        case nothing, files, lua, fields
        case words([String])
    }

    /// What it does with its argument; calls the closure once at its end, possibly before it returns.
    typealias Action = @Sendable (PromptSession, _ argument: String, _ end: @escaping () -> Void) -> Void

    /// What it does at a break.
    enum AtBreak: Sendable {
        /// The same as at the prompt.
        case same
        /// Nothing before the script has ended.
        case denied
        case action(@Sendable (BreakSession, _ argument: String) -> Void)
    }

    let name: String
    let arguments: String
    let documentation: String
    let completion: Completion
    /// Whether it runs Lua, which the tutorial checks by itself, or leads through the tutorial.
    let isChecked: Bool
    let atBreak: AtBreak
    let perform: Action

    init(
        _ name: String, _ arguments: String, _ documentation: String, completion: Completion = .nothing,
        isChecked: Bool = false, atBreak: AtBreak = .same, perform: @escaping Action
    ) {
        self.name = name
        self.arguments = arguments
        self.documentation = documentation
        self.completion = completion
        self.isChecked = isChecked
        self.atBreak = atBreak
        self.perform = perform
    }

    /// A command that has ended when its action returns.
    init(
        _ name: String, _ arguments: String, _ documentation: String, completion: Completion = .nothing,
        isChecked: Bool = false, atBreak: AtBreak = .same,
        done action: @escaping @Sendable (PromptSession, _ argument: String) -> Void
    ) {
        self.init(
            name, arguments, documentation, completion: completion, isChecked: isChecked, atBreak: atBreak,
            perform: { session, argument, end in
                action(session, argument)
                end()
            })
    }

    /// A command of the debugger, at the host's own prompt.
    init(
        debugger name: String, _ arguments: String, _ documentation: String,
        completion: Completion = .nothing, atBreak: AtBreak,
        perform: @escaping @Sendable (PromptDebugger, _ argument: String, _ end: @escaping () -> Void) -> Void = {
            $0.missBreak($2)
        }
    ) {
        self.init(
            name, arguments, documentation, completion: completion, atBreak: atBreak,
            perform: { session, argument, end in
                if let breaks = session.terminal.breaks { return perform(breaks, argument, end) }
                session.complain("':\(name)' is for the prompt of the host itself: breaks are shown there")
                end()
            })
    }

    /// All commands in listing order.
    static let all = general + ofApplication + atBreaks

    static let general: [Command] = [
        Command(
            "help", "[name]", "These commands, or what is known of a name.", completion: .lua,
            atBreak: .action { $0.help($1) }, done: { $0.help($1) }),
        Command(
            "tutorial", "[lesson]", "Twelve short lessons that check what you type; off ends them.",
            completion: .words(["next", "again", "off"]), isChecked: true, atBreak: .denied, done: { $0.teach($1) }),
        Command(
            "time", "[entry]", "How long an entry takes; without one, after every entry or no more.",
            completion: .lua, isChecked: true, atBreak: .denied, perform: { $0.time($1, then: $2) }),
        Command(
            "profile", "ENTRY", "Runs an entry, and shows where its time went.", completion: .lua, isChecked: true,
            atBreak: .denied, perform: { $0.profile($1, then: $2) }),
        Command(
            "bench", "ENTRY", "Runs an entry again and again: how long a run takes.", completion: .lua,
            isChecked: true, atBreak: .denied, perform: { $0.bench($1, then: $2) }),
        Command(
            "edit", "[number]", "The last entry, or an earlier one, in your $EDITOR.", isChecked: true,
            perform: { $0.edit($1, then: $2) }),
        Command(
            "save", "FILE", "The entries that worked as a script, with their results as comments.",
            completion: .files, perform: { $0.save($1, then: $2) }),
        Command(
            "load", "FILE", "Runs a file as if it were typed here.", completion: .files, isChecked: true,
            atBreak: .denied, perform: { $0.load($1, then: $2) }),
        Command(
            "hooks", "", "The handlers: calls, errors, and the longest time.",
            done: { session, _ in session.page(session.hooksTable) }),
        Command(
            "errors", "", "The latest errors of handlers and timers.", done: { session, _ in session.showErrors() }),
        Command(
            "undo", "", "Takes back what the last entry changed in the items.", atBreak: .denied,
            perform: { session, _, end in session.undo(then: end) }),
        Command(
            "redo", "", "Does again what :undo took back.", atBreak: .denied,
            perform: { session, _, end in session.redo(then: end) }),
        Command(
            "history", "[text|on|off|clear]", "Earlier entries; off keeps new ones out of the file.",
            completion: .words(["on", "off", "clear"]), perform: { $0.history($1, then: $2) }),
        Command(
            "img", "[item or image]", "Draws a picture.", completion: .lua, perform: { $0.draw($1, then: $2) }),
        Command(
            "out", "[table|lua|json|csv]", "How results are shown.",
            completion: .words(["table", "lua", "json", "csv"]), atBreak: .action { $0.stepOut($1) },
            done: { $0.setFormat($1) }),
        Command(
            "columns", "[fields|*]", "The columns of tables, remembered; with * those that differ again.",
            completion: .fields, done: { $0.chooseColumns($1) }),
        Command(
            "fields", "", "The items' fields: kinds, declarations, how many items have them.",
            done: { session, _ in session.showFields() }),
        Command(
            debugger: "break", "[FILE:LINE|off|error]",
            "Breaks at a line, or at errors; alone, lists the breakpoints.",
            completion: .words(["off all", "error", "error all", "error off"]),
            atBreak: .action { $0.setBreakpoint($1) }
        ) {
            $0.setBreakpoint($1)
            $2()
        },
        Command(
            debugger: "debug", "ENTRY", "Runs an entry, and breaks at its first line.", completion: .lua,
            atBreak: .denied
        ) { $0.debug($1, then: $2) },
        Command(
            "doctor", "", "What the terminal, the container and the sandbox are.",
            done: { session, _ in session.page(session.doctor.text) }),
        Command(
            "quit", "", "Saves, and leaves. Ctrl-D does the same.", done: { session, _ in session.terminal.leave() }),
    ]

    /// The commands that look into the application and its files; the list names them in one line.
    static let ofApplication: [Command] = [
        Command(
            "states", "", "The states of the application, the current one, and the way to it.",
            done: { session, _ in session.showStates() }),
        Command(
            "trace", "[on|off]", "Shows each callback of the life cycle as it comes.",
            completion: .words(["on", "off"]), done: { $0.trace($1) }),
        Command(
            "inspect", "PATH [, KEYPATH]",
            "An archive or a property list as a tree; of items.archivePath what the save changed.",
            completion: .lua, perform: { $0.inspect($1, then: $2) }),
        Command(
            "hex", "VALUE [, from, length]", "The bytes of a text or of data, with their characters.", completion: .lua,
            perform: { $0.hex($1, then: $2) }),
        Command(
            "chapter", "[step]", "The step of the chapter, at the prompt of cubby chapter; off ends it.",
            completion: .words(["next", "again", "off"]), isChecked: true, atBreak: .denied,
            done: { $0.teachChapter($1) }),
    ]

    /// The commands at a break, in listing order; `:out` and an empty line also work there.
    static let atBreaks: [Command] = [
        Command(
            debugger: "watch", "[EXPRESSION|off]", "Shows an expression at each break.", completion: .lua,
            atBreak: .action { $0.watch($1) }
        ) {
            $0.watch($1)
            $2()
        },
        Command(
            debugger: "next", "", "Runs to the next line of the function; an empty line repeats it.",
            atBreak: .action { session, _ in session.step(.stepOver) }),
        Command(
            debugger: "step", "", "Runs to the next line, also in called functions.",
            atBreak: .action { session, _ in session.step(.stepIn) }),
        Command(
            debugger: "continue", "", "Continues, as Ctrl-D does. :out runs to the caller.",
            atBreak: .action { session, _ in session.end() }),
        Command(
            debugger: "stop", "", "Stops the script, as Ctrl-C does.",
            atBreak: .action { session, _ in session.stopScript() }),
        Command(
            debugger: "where", "", "The active functions.", atBreak: .action { session, _ in session.showCalls() }),
        Command(
            debugger: "up", "", "Selects the function that called this one.",
            atBreak: .action { session, _ in session.move(1) }),
        Command(
            debugger: "down", "", "Selects the function that this one called.",
            atBreak: .action { session, _ in session.move(-1) }),
        Command(
            debugger: "locals", "", "The local variables of the function.",
            atBreak: .action { session, _ in session.listLocals() }),
        Command(
            debugger: "upvalues", "",
            "Its variables of enclosing functions. Any other line is evaluated in the function.",
            atBreak: .action { session, _ in session.listUpvalues() }),
    ]

    /// A line for each command.
    static func table(_ commands: [Command]) -> String {
        let rows = commands.map { (":\($0.name) \($0.arguments)", $0.documentation) }
        return rows.alignedLines.map { "  \($0)\n" }.joined()
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
