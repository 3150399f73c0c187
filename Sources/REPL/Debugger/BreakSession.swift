import Application
import Files
import Glibc
import LineEditor
import Lua
import Scripting

/// A break at the prompt: the selected function, the entries evaluated in it, and how the script resumes.
final class BreakSession {
    private unowned let debugger: PromptDebugger
    private let session: PromptSession
    let stop: ScriptBreak
    /// The position of the selected function among the calls: its variables are visible.
    private var selected: Int
    /// How the script resumes; nil until the user decides.
    private(set) var resume: LuaDebugger.Resume?

    init(_ debugger: PromptDebugger, _ session: PromptSession, _ stop: ScriptBreak) {
        self.debugger = debugger
        self.session = session
        self.stop = stop
        selected = stop.stop.innermost
    }

    private var text: BreakText { BreakText(host: session.host, stop: stop, printer: session.printer) }

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
        session.print(text.heading(selected))
        showSource()
        for watch in debugger.watches { show(watch: watch) }
    }

    private func showSource() {
        if let source = text.source(selected, isColored: !session.palette.isEmpty) { session.print(source) }
    }

    /// Shows a watched expression, evaluated with a time limit.
    func show(watch: String) {
        switch stop.evaluate(watch, in: selected, as: .expression, seconds: ScriptDebugger.evaluationLimit) {
        case .success(let values):
            session.print("  \(watch) = \(values.map { session.printer.describe($0) }.joined(separator: ", "))\n")
        case .failure(let error): session.print(StyledText("  \(watch): \(error.message)\n", .warning))
        }
    }

    // MARK: Entries

    /// Ctrl-D: the script resumes.
    func end() { resume = .resume }

    /// Performs an entry. An empty one repeats the last step.
    func perform(entry text: String) {
        session.hasFailed = false
        if text.trimmed.isEmpty {
            resume = debugger.lastStep
            return
        }
        switch EntryKind(text, isDefined: isDefined) {
        case .command(let command): perform(command)
        case .question(let question): session.answer(question)
        case .lua:
            switch session.evaluator.evaluate(text, at: stop, in: selected) {
            case .success(let values): if !values.isEmpty { session.page(session.printer.printed(values, seconds: 0)) }
            case .failure(let error): if stop.ending == nil { session.report(error) }
            }
        }
    }

    private var variables: [LuaBreak.Variable] { stop.stop.upvalues(of: selected) + stop.stop.locals(of: selected) }

    private func isDefined(_ name: String) -> Bool {
        variables.contains { $0.name == name } || session.isDefined(name)
    }

    private func perform(_ command: CommandLine) {
        guard let known = Command.named(command.name), command.rest.isEmpty || !known.arguments.isEmpty else {
            return session.perform(command) {}
        }
        switch known.atBreak {
        case .same: session.perform(command) {}
        case .denied: session.complain("':\(command.name)' is for after the break")
        case .action(let action): action(self, command.rest)
        }
    }

    // MARK: Commands

    func help(_ subject: String) {
        guard subject.isEmpty else { return session.help(subject) }
        session.show(help: "At a break, beside the prompt's other commands:\n\n" + Command.table(Command.atBreaks))
    }

    /// `:out` is the prompt's command if it names a format.
    func stepOut(_ format: String) {
        if format.isEmpty { step(.stepOut) } else { session.setFormat(format) }
    }

    func stopScript() { resume = stop.stopping }

    func showCalls() { session.page(text.calls(selected: selected)) }

    func listLocals() {
        list(
            text.variables(stop.stop.locals(of: selected), extra: stop.stop.varargs(of: selected)), "local variables")
    }

    func listUpvalues() {
        list(text.variables(stop.stop.upvalues(of: selected)), "variables of enclosing functions")
    }

    func setBreakpoint(_ text: String) { debugger.setBreakpoint(text, chunk: selectedCall?.chunk) }

    func watch(_ expression: String) {
        debugger.watch(expression)
        if debugger.watches.last == expression { show(watch: expression) }
    }

    private func list(_ lines: String, _ subject: String) {
        session.page(lines.isEmpty ? "no \(subject)\n" : lines)
    }

    func step(_ step: LuaDebugger.Resume) {
        debugger.lastStep = step
        resume = step
    }

    /// Selects the next function of a script: those of the host have neither lines nor variables.
    func move(_ step: Int) {
        var call = selected + step
        while stop.stop.calls.indices.contains(call), stop.stop.calls[call].kind == .host { call += step }
        select(call)
    }

    private func select(_ call: Int) {
        guard stop.stop.calls.indices.contains(call) else {
            return session.complain("there is no further function; :where lists them")
        }
        selected = call
        session.print("\(text.place(call))\n")
        showSource()
    }

    // MARK: Completion

    /// The function's variables come first.
    func complete(_ text: String, _ cursor: Int) -> CompletionResult? {
        BreakCompletion(session.host, at: stop, in: selected, session.functions).complete(text, cursor)
    }
}

/// Reads entries at a break, within the paused entry, handler or timer.
extension HostPrompt {
    /// Whether a break can be shown: the prompt is in the foreground, and no pager, question or program has the
    /// terminal.
    var canRead: Bool {
        console.isInputTerminal && StandardStream.output.isTerminal && console.jobState == .foreground
            && !console.pager.isOpen && (!isEditing || !console.mode.isLeft || loan.hasLeft)
    }

    /// Serves the prompt of a break until that is over, and then restores the line that was being edited.
    func readAtBreak(_ stop: BreakSession) {
        let asked = MonotonicTime.now()
        let outer = (lines: console.lines, watch: watch, events: watch?.events ?? [])
        let (wasRunning, wasQuiet, wasBeginning) = (isRunningEntry, peerChanges.isQuiet, beginsNext)
        let (wasEntered, hadLeft) = (console.mode.isEntered, loan.hasLeft)
        let wasVisible = outer.lines.isVisible
        if wasVisible { perform(outer.lines.editor.suspendDisplay()) }
        outer.watch?.events = []
        let lines = makeLines(history: outer.lines.editor.history)
        var services = services
        services.complete = { stop.complete($0, $1) }
        services.margin = { _ in "" }
        lines.services = services
        console.lines = lines
        watch = host.loop.watch(StandardDescriptor.input) { [unowned self] ready in readable(ready) }
        (isRunningEntry, beginsNext) = (false, false)
        waitWithKeys()
        stop.begin()
        beginEntry()
        while !stop.isOver {
            stop.stop.turn()
            guard stop.stop.ending == .interrupted, isEditing, !lines.editor.buffer.text.isEmpty else { continue }
            stop.stop.dropInterrupt()
            perform(lines.editor.press(.control("c")))
        }
        if lines.editor.isActive, isEditing { perform(lines.editor.abandon()) }
        watch?.cancel()
        watch = outer.watch
        outer.lines.editor.history = lines.editor.history
        console.lines = outer.lines
        (isRunningEntry, peerChanges.isQuiet, beginsNext) = (wasRunning, wasQuiet, wasBeginning)
        session.times.secondsOfQuestions += MonotonicTime.now().seconds(since: asked)
        resized()
        guard host.exitCode == nil else { return }
        watch?.events = outer.events
        if wasEntered, console.jobState != .background {
            try? console.mode.enter()
            if wasVisible { perform(outer.lines.editor.resumeDisplay()) }
        } else if hadLeft {
            leaveEditing()
        } else {
            waitWithKeys()
        }
    }
}

/// The text of a break: why and where the script is paused.
struct BreakText {
    let host: ScriptHost
    let stop: ScriptBreak
    let printer: ValuePrinter
    /// Number of lines shown before and after the current line.
    private static let margin = 2

    private var calls: [LuaBreakCall] { stop.stop.calls }

    /// The reason, and the place of a function.
    func heading(_ call: Int) -> StyledText {
        var text = StyledText()
        switch stop.stop.reason {
        case .call: text.append("breakpoint()", .heading)
        case .breakpoint(let breakpoint, let failure):
            text.append("breakpoint \(breakpoint.number)", .heading)
            if let failure { text.append(" (its condition failed: \(failure.message))", .warning) }
        case .step: text.append("step", .heading)
        case .error(let value): text.append("error: \(message(value))", .error)
        }
        text.append(stop.stop.reason.isFailure ? "\n\(place(call))" : " · \(place(call))")
        if let title = stop.title { text.append(" · \(title)", .dimmed) }
        text.append("\n")
        return text
    }

    private func message(_ value: LuaValue) -> String { value.textValue ?? printer.describe(value) }

    /// `main.lua:12 in discount`.
    func place(_ call: Int) -> String {
        guard calls.indices.contains(call) else { return "" }
        let at = calls[call]
        return "\(at.source)\(at.line.map { ":\($0)" } ?? "")" + (at.kind == .chunk ? "" : " in \(at.title)")
    }

    /// The current line of a function, marked, with the lines around it, coloured; nil if the text is unknown.
    func source(_ call: Int, isColored: Bool) -> StyledText? {
        guard calls.indices.contains(call), let line = calls[call].line else { return nil }
        let at = calls[call]
        let last = line + Self.margin
        let width = String(last).count
        var text = StyledText()
        for number in max(line - Self.margin, 1)...last {
            guard let source = host.sources.line(number, of: at.chunk) else {
                if number >= line { break } else { return nil }
            }
            let margin = "\(number == line ? "→" : " ") \(String(number).padded(to: width, isRight: true)) | "
            text.append(margin, number == line ? .emphasis : .dimmed)
            let shown = String(source.prefix(200))
            text.pieces += isColored ? Self.colored(shown).pieces : [StyledText.Piece(shown, .plain)]
            text.append("\n")
        }
        return text.pieces.isEmpty ? nil : text
    }

    /// A line of Lua in the editor's colours.
    private static func colored(_ line: String) -> StyledText {
        let bytes = Array(line.utf8)
        var styles = [TextStyle](repeating: .plain, count: bytes.count)
        for span in LuaHighlighter.spans(line) where span.range.upperBound <= bytes.count {
            for index in span.range { styles[index] = span.style }
        }
        var text = StyledText()
        var start = 0
        for index in bytes.indices where index + 1 == bytes.count || styles[index + 1] != styles[index] {
            text.append(String(decoding: bytes[start...index], as: UTF8.self), styles[index])
            start = index + 1
        }
        return text
    }

    /// The call stack, with the selected function marked.
    func calls(selected: Int) -> String {
        let width = String(calls.count).count
        var coroutine = 0
        return stop.stop.lines { index in
            guard let number = index else { return "  \(stop.stop.gapText)\n" }
            let resumption = calls[number].coroutine == coroutine ? "" : "  resumed by\n"
            coroutine = calls[number].coroutine
            let digits = String(number).padded(to: width, isRight: true)
            return "\(resumption)\(number == selected ? "→" : " ") \(digits)  \(place(number))\n"
        }.joined()
    }

    /// The variables of a function, one per line.
    func variables(_ variables: [LuaBreak.Variable], extra: [LuaValue] = []) -> String {
        var lines = variables.map { "\($0.name) = \(printer.describe($0.value))" }
        if !extra.isEmpty { lines.append("... = " + extra.map { printer.describe($0) }.joined(separator: ", ")) }
        return lines.map { "  \($0)\n" }.joined()
    }
}

extension LuaBreak.Reason {
    /// Whether it has a message, after which the place starts a new line.
    fileprivate var isFailure: Bool {
        switch self {
        case .error, .breakpoint(_, failure: .some): true
        default: false
        }
    }
}
