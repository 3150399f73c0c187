import LineEditor
import Lua
import Scripting

/// A break at the prompt: the selected function, the entries evaluated in it, and how the script resumes.
final class BreakSession {
    private unowned let repl: REPL
    let stop: ScriptBreak
    /// The position of the selected function among the calls: its variables are visible.
    private var selected: Int
    /// How the script resumes; nil until the user decides.
    private(set) var resume: LuaDebugger.Resume?

    init(_ repl: REPL, _ stop: ScriptBreak) {
        self.repl = repl
        self.stop = stop
        selected = stop.stop.innermost
    }

    private var text: BreakText { BreakText(host: repl.host, stop: stop, printer: repl.printer) }

    /// `main.lua:12> `, for the selected function.
    var prompt: StyledText {
        guard let call = selectedCall else { return StyledText("> ", .prompt) }
        let file = call.source.split(separator: "/").last.map(String.init) ?? "?"
        return StyledText("\(file)\(call.line.map { ":\($0)" } ?? "")> ", .prompt)
    }

    private var selectedCall: LuaBreakCall? {
        stop.stop.calls.indices.contains(selected) ? stop.stop.calls[selected] : nil
    }

    /// Whether the break must end, or the user has ended it.
    var isOver: Bool { resume != nil || stop.ending != nil }

    /// Shows why and where the script is paused, and the watched expressions.
    func begin() {
        repl.print(text.heading(selected))
        showSource()
        for watch in repl.debugger.watches { show(watch: watch) }
    }

    private func showSource() {
        if let source = text.source(selected, isColored: !repl.palette.isEmpty) { repl.print(source) }
    }

    /// Shows a watched expression, evaluated with a time limit.
    func show(watch: String) {
        switch stop.evaluate(watch, in: selected, as: .expression, seconds: ScriptDebugger.evaluationLimit) {
        case .success(let values):
            repl.print("  \(watch) = \(values.map { repl.printer.describe($0) }.joined(separator: ", "))\n")
        case .failure(let error): repl.print(StyledText("  \(watch): \(error.message)\n", .warning))
        }
    }

    // MARK: Entries

    /// Ctrl-D: the script resumes.
    func end() { resume = .goOn }

    /// Performs an entry. An empty one repeats the last step.
    func perform(entry text: String) {
        repl.hasFailed = false
        if text.trimmed.isEmpty {
            resume = repl.debugger.lastStep
            return
        }
        switch EntryKind(text, isDefined: isDefined) {
        case .command(let command): perform(command)
        case .question(let question): repl.answer(question)
        case .lua:
            switch repl.evaluator.evaluate(text, at: stop, in: selected) {
            case .success(let values): if !values.isEmpty { repl.page(repl.printer.printed(values, seconds: 0)) }
            case .failure(let error): if stop.ending == nil { repl.report(error) }
            }
        }
    }

    private var variables: [LuaBreak.Variable] { stop.stop.upvalues(of: selected) + stop.stop.locals(of: selected) }

    private func isDefined(_ name: String) -> Bool {
        variables.contains { $0.name == name } || repl.isDefined(name)
    }

    private func perform(_ command: CommandLine) {
        let known = Command.named(command.name)
        switch known?.name {
        case let name? where !command.rest.isEmpty && known?.arguments.isEmpty ?? false:
            repl.complain("':\(name)' takes no argument")
        case "help" where command.rest.isEmpty:
            _ = repl.show(help: "At a break, beside the prompt's other commands:\n\n" + Command.table(Command.atBreak))
        case "continue": resume = .goOn
        case "next": step(.stepOver)
        case "step": step(.stepIn)
        case "out" where command.rest.isEmpty: step(.stepOut)
        case "stop": resume = stop.stopping
        case "up": move(1)
        case "down": move(-1)
        case "where": repl.page(text.calls(selected: selected))
        case "locals":
            list(
                text.variables(stop.stop.locals(of: selected), extra: stop.stop.varargs(of: selected)),
                "local variables")
        case "upvalues": list(text.variables(stop.stop.upvalues(of: selected)), "variables of enclosing functions")
        case "break": repl.debugger.setBreakpoint(command.rest, chunk: selectedCall?.chunk)
        case "watch":
            repl.debugger.watch(command.rest)
            if repl.debugger.watches.last == command.rest { show(watch: command.rest) }
        case "debug", "time", "profile", "bench", "load", "tutorial", "undo", "redo":
            repl.complain("':\(command.name)' is for after the break")
        default: repl.perform(command) {}
        }
    }

    private func list(_ lines: String, _ subject: String) {
        repl.page(lines.isEmpty ? "no \(subject)\n" : lines)
    }

    private func step(_ step: LuaDebugger.Resume) {
        repl.debugger.lastStep = step
        resume = step
    }

    /// Selects the next function of a script: those of the host have neither lines nor variables.
    private func move(_ step: Int) {
        var call = selected + step
        while stop.stop.calls.indices.contains(call), stop.stop.calls[call].kind == .host { call += step }
        select(call)
    }

    private func select(_ call: Int) {
        guard stop.stop.calls.indices.contains(call) else {
            return repl.complain("there is no further function; :where lists them")
        }
        selected = call
        repl.print("\(text.place(call))\n")
        showSource()
    }

    // MARK: Completion

    /// The function's variables come first.
    func complete(_ text: String, _ cursor: Int) -> CompletionResult? {
        BreakCompletion(repl.host, at: stop, in: selected, repl.functions).complete(text, cursor)
    }
}
