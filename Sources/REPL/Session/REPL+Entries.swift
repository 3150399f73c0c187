import Application
import Glibc
import Items
import LineEditor
import Lua
import PropertyList
import Scripting
import Wording

/// Runs entries and shows their results.
extension REPL {
    func perform(entry text: String) {
        if let command = command(in: text) { return perform(command) }
        if let question = HelpQuestion(text) { return answer(question) }
        run(text, timed: showsTime)
    }

    /// The command of a text that begins with a colon, or is one of the words that people mean as commands.
    private func command(in text: String) -> CommandLine? {
        let locals = evaluator.scope.locals
        let word = PlainWord.command(text) { !host.state.globals[$0].isNil || !locals[$0].isNil }
        return CommandLine.parse(word.map { ":" + $0 } ?? text)
    }

    /// The number that a submitted text gets as an entry. Only Lua is counted.
    func margin(of text: String) -> StyledText {
        guard settings.showsNumbers, !text.trimmed.isEmpty, command(in: text) == nil, HelpQuestion(text) == nil,
            !palette[.dimmed].isEmpty
        else { return "" }
        return StyledText(String(evaluator.count + 1), .dimmed)
    }

    /// Runs Lua.
    func run(_ text: String, timed: Bool) {
        changes = ChangeNotice()
        let start = MonotonicTime.now()
        secondsOfQuestions = 0
        // A copy runs: the entry may call help, which reads the session's names.
        var running = evaluator
        let result = running.evaluate(text)
        evaluator = running
        let seconds = MonotonicTime.now().seconds(since: start) - secondsOfQuestions
        guard host.exitCode == nil else { return }
        switch result {
        case .success(let values):
            let shown = values.isEmpty ? PrintedValues() : printer.printed(values, seconds: seconds)
            page(shown)
            remember(text, true, shown.text)
            let includesDuration =
                tellChanges(shown.includesDuration ? nil : seconds) || shown.includesDuration
            if timed, !includesDuration { print(StyledText(ValuePrinter.duration(seconds) + "\n", .dimmed)) }
        case .failure(let error):
            remember(text, false, "")
            report(error, in: text)
            tellChanges()
        }
        tutor(text, result)
    }

    /// Tells what an entry changed, if more than one item: one is what the entry says, or shows.
    @discardableResult
    func tellChanges(_ seconds: Double? = nil) -> Bool {
        guard changes.own.count > 1 else { return false }
        let duration = seconds.map { " · \(ValuePrinter.duration($0))" } ?? ""
        print(StyledText("\(ChangeNotice.text(changes.own))\(duration) · :undo\n", .dimmed))
        return true
    }

    private func remember(_ text: String, _ hasWorked: Bool, _ shown: String) {
        let isStatement = (try? host.state.load(Array(text.utf8), name: "=entry")) != nil
        record.add(
            SessionRecord.Entry(
                number: evaluator.count, text: text, hasWorked: hasWorked, result: shown, isExpression: !isStatement))
    }

    /// Shows an error with its excerpt, in colours if enabled.
    func report(_ error: LuaError, in source: String? = nil) {
        if error.kind == .cancelled { return print("interrupted\n", toStandardError: true) }
        var error = error
        // The fields of a raised table say more than its address.
        if let raised = host.state.value(of: error), case .table(let table) = raised,
            table.metatable.map({ $0["__tostring"].isNil }) ?? true
        {
            error.message = printer.describe(raised)
        }
        error.message += MemberHint.text(for: error, host: host, locals: evaluator.scope.locals)
        let isSyntax = if case .syntax = error.kind { true } else { false }
        var caret: Range<Int>?
        if isSyntax, let source, let place = ErrorText.place(in: error.message) {
            caret = SyntaxPlace.range(of: error, in: source, line: place.line, state: host.state)
        }
        let text = ErrorText.describe(error, sources: host.sources, traceback: !isSyntax, caret: caret)
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        var shown = StyledText(String(lines.first ?? ""), .error)
        if lines.count > 1 {
            for line in lines[1].split(separator: "\n", omittingEmptySubsequences: false) {
                shown.append("\n")
                shown.append(String(line), .dimmed)
            }
        }
        shown.append("\n")
        print(shown, toStandardError: true)
    }

    // MARK: Functions for entries

    /// Shows the text of `help`.
    public func show(help text: String) -> Bool {
        page(WrappedText.wrapped(text, to: printer.columns))
        return true
    }

    /// Defines `full(x)`, and help for functions of scripts.
    func installFunctions() {
        let declaration = LuaFunctionDeclaration(
            "full", [LuaParameter("value", .any, "what is shown")],
            "Shows a value whole, however long it is; the prompt cuts what it prints by itself.",
            example: "full(app:hooks())")
        host.state.setGlobal(declaration) { [unowned self] call in
            var whole = printer
            whole.isUnlimited = true
            page(whole.printed(call.allValues, seconds: 0))
            return call.returnsNothing()
        }
        host.screenColumns = { [unowned self] in printer.columns }
        host.describeTable = { [unowned self] in printer.describe(.table($0)) }
        let scope = evaluator.scope
        host.describeUnknown = { [unowned self] value in
            let texts = HelpText(self.host, functions)
            guard let name = value.textValue else { return texts.ofFunction(value) }
            return texts.ofName(name, locals: scope.locals)
        }
        guard isEditing else { return }
        host.waitsForInput = false
        TypedInput.install(
            in: host,
            beforeReading: { [unowned self] in
                host.flushOutput()
                mode.leave()
            },
            afterReading: { [unowned self] in waitWithKeys() })
    }
}
