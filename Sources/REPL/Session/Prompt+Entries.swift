import Application
import Items
import LineEditor
import Lua
import Scripting
import Wording

/// Runs entries and shows their results.
extension Prompt {
    /// Performs an entry, and calls `end` at its end, possibly before this returns.
    func perform(entry text: String, then end: @escaping () -> Void) {
        hasFailed = false
        let kind = EntryKind(text, isDefined: isDefined)
        switch kind {
        case .command(let command):
            perform(command) { [self] in
                tutor(kind)
                end()
            }
        case .question(let question):
            answer(question)
            tutor(kind)
            end()
        case .lua: run(text, timed: showsTime, then: end)
        }
    }

    /// Runs Lua.
    func run(_ text: String, timed: Bool, then end: @escaping () -> Void) {
        changes = ChangeNotice()
        let start = MonotonicTime.now()
        secondsOfQuestions = 0
        evaluator.begin(text) { [self] function, completion in
            run(function, isEntry: true, completion: completion)
        } completion: { [self] result in
            show(result, of: text, seconds: MonotonicTime.now().seconds(since: start) - secondsOfQuestions, timed)
            end()
        }
    }

    private func show(
        _ result: Result<[LuaValue], LuaError>, of text: String, seconds: Double, _ timed: Bool
    ) {
        guard host.exitCode == nil else {
            if case .failure = result { hasFailed = true }
            return
        }
        switch result {
        case .success(let values):
            // At a prompt the count of an export is worth a line.
            let isShown = tellsChanges || !host.isReportOfOutput(values)
            let shown = values.isEmpty || !isShown ? PrintedValues() : printer.printed(values, seconds: seconds)
            page(shown)
            remember(text, true, shown.text)
            let includesDuration =
                tellChanges(shown.includesDuration ? nil : seconds) || shown.includesDuration
            if timed, !includesDuration { print(StyledText(ValuePrinter.duration(seconds) + "\n", .dimmed)) }
        case .failure(let error):
            remember(text, false, "")
            report(error)
            tellChanges()
        }
        tutor(LessonEntry(text, result))
    }

    /// Reports an entry's changes to more than one item: a single change is clear from the entry or its result.
    @discardableResult
    func tellChanges(_ seconds: Double? = nil) -> Bool {
        guard tellsChanges, changes.own.count > 1 else { return false }
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
    func report(_ error: LuaError) {
        hasFailed = true
        if error.kind == .cancelled { return print("interrupted\n", toStandardError: true) }
        var error = error
        // The fields of a raised table are more useful than its address.
        if let raised = host.state.value(of: error), case .table(let table) = raised,
            table.metatable.map({ $0["__tostring"].isNil }) ?? true
        {
            error.message = printer.describe(raised)
        }
        error.message += MemberHint.text(for: error, host: host, locals: evaluator.scope.locals)
        let isSyntax = if case .syntax = error.kind { true } else { false }
        let text = ErrorText.describe(error, sources: host.sources, traceback: !isSyntax)
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        // The message is wrapped at words; below it are lines of code, with marks in their columns.
        var shown = StyledText(WrappedText.wrapped(String(lines.first ?? ""), to: screenColumns), .error)
        if lines.count > 1 {
            for line in lines[1].split(separator: "\n", omittingEmptySubsequences: false) {
                shown.append("\n")
                shown.append(String(line), .dimmed)
            }
        }
        shown.append("\n")
        print(shown, toStandardError: true)
    }
}
