import Application
import Items
import LineEditor
import Lua
import Scripting

/// Runs entries and shows their results.
extension PromptSession {
    /// Performs an entry, and calls `end` at its end, possibly before this returns.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - isSQL: whether the user has said that it is SQL; otherwise its text tells.
    ///   - end: called at its end.
    func perform(entry text: String, isSQL: Bool = false, then end: @escaping () -> Void) {
        if let entry = begin(entry: text, isSQL: isSQL, then: end) { run(entry, then: end) }
    }

    /// Begins an entry. A command and a question are performed; `end` is called at their end, possibly before this returns.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - isSQL: whether the user has said that it is SQL; otherwise its text tells.
    ///   - end: called at the end of what is not returned.
    /// - Returns: Lua or SQL to be run by the terminal and passed to `end(_:with:)`; nil for another entry, and for one
    ///   that does not compile, whose error is shown.
    func begin(entry text: String, isSQL: Bool = false, then end: @escaping () -> Void = {}) -> SessionEntry? {
        failure = nil
        if isSQL { return begin(text, timed: times.areShown, isSQL: true, then: end) }
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
        case .lua: return begin(text, timed: times.areShown, then: end)
        }
        return nil
    }

    private func begin(
        _ text: String, timed: Bool, isSQL: Bool = false, then end: @escaping () -> Void
    ) -> SessionEntry? {
        changes = ChangeNotice()
        times.secondsOfQuestions = 0
        let start = MonotonicTime.now()
        do throws(LuaError) {
            let code = try evaluator.begin(text, isSQL: isSQL)
            return SessionEntry(text: text, code: code, start: start, isTimed: timed)
        } catch {
            show(.failure(error), of: text, isSQL: isSQL, seconds: seconds(since: start), timed)
            end()
            return nil
        }
    }

    /// Ends an entry: shows its result.
    func end(_ entry: SessionEntry, with result: Result<[LuaValue], LuaError>) {
        let result = evaluator.end(entry.code, with: result)
        show(result, of: entry.text, isSQL: entry.code.isSQL, seconds: seconds(since: entry.start), entry.isTimed)
    }

    /// Runs Lua, or SQL, on a terminal on which it may end later.
    func run(_ text: String, timed: Bool, then end: @escaping () -> Void) {
        if let entry = begin(text, timed: timed, then: end) { run(entry, then: end) }
    }

    private func run(_ entry: SessionEntry, then end: @escaping () -> Void) {
        terminal.run(entry.code.function, isEntry: true) { [self] in
            self.end(entry, with: $0)
            end()
        }
    }

    private func seconds(since start: MonotonicTime) -> Double {
        MonotonicTime.now().seconds(since: start) - times.secondsOfQuestions
    }

    private func show(
        _ result: Result<[LuaValue], LuaError>, of text: String, isSQL: Bool, seconds: Double, _ timed: Bool
    ) {
        guard host.exitCode == nil else {
            if case .failure = result { hasFailed = true }
            return
        }
        switch result {
        case .success(let values):
            if isSQL, terminal.reportsChanges, case .integer(let count)? = values.first {
                remember(text, true, isSQL: true, "")
                report(changes: count, seconds)
                break
            }
            // At a prompt the count of an export is worth a line.
            let isShown = terminal.reportsChanges || !host.isReportOfOutput(values)
            let shown =
                values.isEmpty || !isShown
                ? PrintedValues() : dumped(values, of: text) ?? printer.printed(values, seconds: seconds)
            page(shown)
            remember(text, true, isSQL: isSQL, shown.text)
            let includesDuration =
                reportChanges(shown.includesDuration ? nil : seconds) || shown.includesDuration
            if timed, !includesDuration { print(StyledText(ValuePrinter.duration(seconds) + "\n", .dimmed)) }
        case .failure(let error):
            remember(text, false, isSQL: isSQL, "")
            report(error, of: text, isSQL: isSQL)
            reportChanges()
        }
        tutor(LessonEntry(text, result))
    }

    /// The lines of `data:dump()`, which are for people, as they are; nil for another entry.
    private func dumped(_ values: [LuaValue], of entry: String) -> PrintedValues? {
        guard printer.format == .table, values.count == 1, let text = values.first?.textValue,
            LuaText(entry).endsWithCall(of: "dump")
        else { return nil }
        return PrintedValues(VisibleText.escaped(text))
    }

    /// Reports an entry's changes to more than one item: a single change is clear from the entry or its result.
    @discardableResult
    func reportChanges(_ seconds: Double? = nil, undo: String = ":undo") -> Bool {
        guard terminal.reportsChanges, changes.own.count > 1 else { return false }
        let duration = printer.showsTimes ? seconds.map { " · \(ValuePrinter.duration($0))" } ?? "" : ""
        print(StyledText("\(ChangeNotice.text(changes.own))\(duration) · \(undo)\n", .dimmed))
        return true
    }

    /// Reports the number of a statement's changes, of items in the notice's own words.
    private func report(changes count: Int64, _ seconds: Double) {
        let text = ChangeNotice.text(changes.own)
        let duration = printer.showsTimes ? " · \(ValuePrinter.duration(seconds))" : ""
        let line =
            if !text.isEmpty {
                "\(text)\(duration) · :undo"
            } else if count > 0 {
                "\(Int(clamping: count).counted("row")) changed\(duration)"
            } else {
                "nothing changed\(duration)"
            }
        print(StyledText(line + "\n", .dimmed))
    }

    private func remember(_ text: String, _ hasWorked: Bool, isSQL: Bool, _ shown: String) {
        guard evaluator.isNumbering else { return }
        let isStatement = !isSQL && (try? host.state.load(Array(text.utf8), name: "=entry")) != nil
        record.add(
            SessionRecord.Entry(
                number: evaluator.count, text: text, hasWorked: hasWorked, result: shown, isExpression: !isStatement,
                isSQL: isSQL))
    }

    /// Shows an error with its excerpt, in colours if enabled; that of an entry of SQL at its place in the statement, that
    /// of another entry with a hint at a habit of another prompt.
    func report(_ error: LuaError, of entry: String? = nil, isSQL: Bool = false) {
        hasFailed = true
        if error.kind == .cancelled { return print("interrupted\n", toStandardError: true) }
        if isSQL, let error = error.underlying as? StatementError { return show(error: error.description, lines: 1) }
        var error = error
        // The fields of a raised table are more useful than its address.
        if let raised = host.state.value(of: error), case .table(let table) = raised,
            table.metatable.map({ $0["__tostring"].isNil }) ?? true
        {
            error.message = printer.describe(raised)
        }
        error.message += MemberHint.text(for: error, host: host, locals: evaluator.scope.locals)
        if let entry, let habit = ForeignHabit.found(in: entry, error), record.mention(habit.name) {
            error.message += "; \(habit.hint)"
        }
        let isSyntax = if case .syntax = error.kind { true } else { false }
        let count = error.message.split(separator: "\n", omittingEmptySubsequences: false).count
        show(error: ErrorText.describe(error, sources: host.sources, traceback: !isSyntax), lines: count)
    }

    /// Shows the text of an error, whose first lines are its message.
    private func show(error text: String, lines count: Int) {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        recordFailure(all.prefix(count).joined(separator: "\n"))
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

/// An entry that runs: between `begin` and `end` of a session.
struct SessionEntry {
    let text: String
    let code: Evaluator.RunningEntry
    let start: MonotonicTime
    /// Whether its duration is shown in any case.
    let isTimed: Bool
}

/// The entries of a session with their results.
struct SessionRecord {
    struct Entry {
        let number: Int
        let text: String
        let hasWorked: Bool
        /// The shown result; empty for statements.
        let result: String
        /// Whether it is an expression, not a statement.
        let isExpression: Bool
        var isSQL = false
    }

    private(set) var entries: [Entry] = []
    /// The habits of other prompts that a hint has mentioned.
    private var mentionedHabits: NameSet = []

    mutating func add(_ entry: Entry) { entries.append(entry) }

    /// Mentions a habit; false if it was mentioned before.
    mutating func mention(_ habit: String) -> Bool { mentionedHabits.insert(habit).inserted }

    /// The entry with a number, or the latest.
    func entry(_ number: Int?) -> Entry? {
        guard let number else { return entries.last }
        return entries.last { $0.number == number }
    }

    /// All entries with their numbers, as `:history` shows them.
    var listing: String {
        entries.map { entry in
            "\(String(entry.number).padded(to: 4, isRight: true))  "
                + entry.text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n      ")
                + (entry.hasWorked ? "\n" : "   -- failed\n")
        }.joined()
    }

    /// The successful entries as a script: values are printed, with the shown results as comments.
    func script() -> String {
        let worked = entries.filter(\.hasWorked)
        let needsResults = worked.contains { Self.asksForResults($0.text) }
        var text = "-- Saved from a session at the prompt.\n"
        if needsResults { text += Self.resultKeeper }
        if worked.contains(where: { Self.names(in: $0.text).contains("full") }) { text += Self.full }
        for entry in worked {
            guard let source = Self.source(of: entry, keepingResults: needsResults) else { continue }
            text += "\n" + source + "\n"
            for line in entry.result.split(separator: "\n").prefix(20) { text += "--> \(line)\n" }
        }
        return text
    }

    /// Prints values and keeps the first, as the prompt does.
    private static let resultKeeper = """

        -- As at the prompt: _ is the last value, _3 that of entry 3.
        local function show(number, ...)
          if ... ~= nil then
            _ = ...
            _G["_" .. number] = _
          end
          print(...)
        end

        """

    /// `full` exists only at prompts.
    private static let full = "\nlocal full = rawget(_G, \"full\") or print\n"

    private static func source(of entry: Entry, keepingResults: Bool) -> String? {
        var source = entry.text.trimmed
        var isExpression = entry.isExpression
        if entry.isSQL {
            var level = ""
            while source.contains("]\(level)]") || source.hasSuffix("]\(level)") { level += "=" }
            source = "sql[\(level)[\(source)]\(level)]"
        }
        if source.hasPrefix("=") {
            source = String(source.dropFirst()).trimmed
        } else if let first = LuaLexer.tokens(source).first, LuaText(source).text(first) == "return" {
            // `return` would end the script.
            source = String(source.dropFirst("return".count)).trimmed
            isExpression = true
            if source.isEmpty { return nil }
        }
        guard isExpression else {
            // A line beginning with a parenthesis would continue the line before.
            return source.hasPrefix("(") ? ";" + source : source
        }
        while source.hasSuffix(";") { source = String(source.dropLast()).trimmed }
        // A comment at the end would include the parenthesis.
        let end = LuaLexer.tokens(source).contains(where: \.isComment) ? "\n)" : ")"
        return (keepingResults ? "show(\(entry.number), " : "print(") + source + end
    }

    /// Whether an entry refers to `_`, or to `_3`.
    private static func asksForResults(_ entry: String) -> Bool {
        names(in: entry).contains { $0.first == "_" && $0.dropFirst().allSatisfy(\.isNumber) }
    }

    private static func names(in entry: String) -> Set<String> {
        let lua = LuaText(entry)
        return Set(lua.tokens.filter { $0.kind == .name }.map(lua.text))
    }
}

/// "Did you mean" for a nil field of a table: Lua's message has the name, the source has the table.
enum MemberHint {
    /// The end of the message; empty without a hint.
    static func text(for error: LuaError, host: ScriptHost, locals: LuaTable?) -> String {
        let message = error.message
        guard error.kind == .runtime, !message.contains("did you mean"), message.contains("a nil value"),
            let name = name(in: message), let line = line(of: message, host)
        else { return "" }
        let lua = LuaText(String(line))
        for index in lua.tokens.indices where lua.name(index) == name {
            guard lua.isToken(index - 1, ".", ":") else { continue }
            let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: index - 1)
            let members = MemberList(resolver: resolver).members(of: resolver.expression(endingAt: index - 2))
            let hint = NearestNames.hint(for: name, among: members.map(\.name))
            if !hint.isEmpty { return hint }
        }
        return ""
    }

    /// The name in `(field 'x')` or `(method 'x')`.
    private static func name(in message: String) -> String? {
        guard message.contains("(field '") || message.contains("(method '") else { return nil }
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[parts.count - 2]) : nil
    }

    private static func line(of message: String, _ host: ScriptHost) -> Substring? {
        let parts = message.split(separator: ":", maxSplits: 2)
        guard parts.count == 3, let number = Int(parts[1]) else { return nil }
        return host.sources.line(number, of: String(parts[0]))
    }
}
