import Application
import Files
import Glibc
import Items
import LineEditor
import Lua
import PropertyList
import Scripting
import Wording

/// The prompt's commands.
extension REPL {
    func perform(_ command: CommandLine) {
        guard let known = Command.named(command.name) else {
            let hint = NearestNames.hint(for: command.name, among: Command.all.map(\.name))
            return complain("unknown command ':\(command.name)'\(hint); :help lists them")
        }
        let rest = command.rest
        // A line with further text is not this command.
        guard rest.isEmpty || !known.arguments.isEmpty else {
            return complain("':\(known.name)' takes nothing behind it")
        }
        switch known.name {
        case "help": help(rest)
        case "tutorial": teach(rest)
        case "time": time(rest)
        case "profile": profile(rest)
        case "bench": bench(rest)
        case "edit": edit(rest)
        case "save": save(rest)
        case "load": load(rest)
        case "hooks": page(hooksTable)
        case "errors": showErrors()
        case "undo": if isUndoMeant { history("undo", "undone", "nothing to undo") }
        case "redo": history("redo", "done again", "nothing to redo")
        case "history": showHistory(rest)
        case "img": draw(rest)
        case "out": setFormat(rest)
        case "columns": chooseColumns(rest)
        case "doctor": page(Doctor(host: host, printer: printer, isEditing: isEditing, settings: settings).text)
        case "quit": host.terminate(cause: .script, explicitly: true)
        default: complain("':\(known.name)' is not done here")
        }
    }

    func complain(_ text: String) {
        print(StyledText([.init(text, .error), .init("\n", .plain)]), toStandardError: true)
    }

    /// Runs Lua code of the prompt's own; returns its values, or nil after showing its error.
    private func values(of source: String, _ arguments: [LuaValue] = []) -> [LuaValue]? {
        switch host.run(Array(source.utf8), name: "=prompt", arguments: arguments) {
        case .success(let values): return values
        case .failure(let error):
            report(error)
            return nil
        }
    }

    // MARK: Help

    private func help(_ subject: String) {
        guard subject.isEmpty else { return answer(HelpQuestion("?" + subject)) }
        let width = Command.all.map { $0.name.count + $0.arguments.count }.max() ?? 0
        var text = "Commands, completed by Tab like everything else:\n\n"
        for command in Command.all {
            let usage = ":\(command.name) \(command.arguments)"
            let padding = String(repeating: " ", count: max(2, width + 4 - usage.count))
            text += "  \(usage)\(padding)\(command.documentation)\n"
        }
        text += "\n  ?name, name?   what is known of a name\n"
        text += "  ??name         the source of a function, or all help that speaks of a word\n"
        text += "  _  _3  _err    the last result, that of entry 3, the last error\n"
        text += "  full(x)        a value whole, however long\n"
        text += "\nhelp() lists what scripts can use.\n"
        _ = show(help: text)
    }

    func answer(_ question: HelpQuestion?) {
        guard let question, !question.subject.isEmpty else {
            _ = show(help: host.helpOverview)
            return
        }
        let texts = HelpText(host, functions)
        let subject = question.subject
        if question.wantsSource {
            let lua = LuaText(subject)
            let resolver = ExpressionResolver(
                host, locals: evaluator.scope.locals, lua: lua, before: lua.tokens.count)
            if case .value(let value) = resolver.expression(endingAt: lua.tokens.count - 1),
                let source = texts.source(value)
            {
                return page(source)
            }
        }
        // Two marks: its source, or else all names and descriptions that mention it.
        if question.wantsSource, let found = texts.search(subject) {
            _ = show(help: found)
            return
        }
        if let found = texts.text(subject, locals: evaluator.scope.locals) ?? texts.search(subject) {
            _ = show(help: found)
            return
        }
        let names = host.state.declarations.all.flatMap { [$0.name] + $0.memberNames } + ErrorCodes.all
        complain("nothing is known of \(subject)\(NearestNames.hint(for: subject, among: names))")
    }

    // MARK: Entries

    private func time(_ entry: String) {
        guard entry.isEmpty else { return run(entry, timed: true) }
        showsTime.toggle()
        print(showsTime ? "every entry's time is shown\n" : "times are no longer shown\n")
    }

    private func edit(_ argument: String) {
        guard isEditing else { return complain(":edit needs a terminal") }
        let entry = record.entry(Int(argument))
        guard argument.isEmpty || entry != nil else {
            return complain("there is no entry \(argument); :history lists them")
        }
        let path = PathText.join(host.container.tmp, "entry-\(getpid()).lua")
        let layer = host.files
        do { try AtomicFile.write(Array((entry?.text ?? "").utf8), to: path, using: layer) } catch {
            return complain(error.message)
        }
        defer { try? layer.remove(path) }
        let program =
            [Environment.value("VISUAL"), Environment.value("EDITOR")].compactMap { $0 }
            .first { !$0.isEmpty } ?? "vi"
        mode.leave()
        defer { waitWithKeys() }
        guard let child = try? ChildProcess(["/bin/sh", "-c", program + " \"$1\"", "sh", path]) else {
            return complain("\(program) could not be started")
        }
        var end: ChildProcess.End?
        while end == nil {
            // Signals and timers are served meanwhile.
            host.loop.runOnce(timeout: 0.03)
            end = child.end(waits: false)
        }
        switch end {
        case .exited(0): break
        case .signaled(let signal): return complain("\(program) was ended by signal \(signal): the entry is as it was")
        case .exited(let status): return complain("\(program) ended with status \(status): the entry is as it was")
        case nil: return
        }
        guard let bytes = try? layer.contents(of: path, limit: 16 << 20) else { return }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.last?.isNewline ?? false { text.removeLast() }
        nextText = text
    }

    private func save(_ argument: String) {
        let force = argument.hasPrefix("-f ")
        let name = force ? argument.dropFirst(3).trimmed : argument
        guard !name.isEmpty else { return complain(":save needs a file's name") }
        let path = expanded(name)
        guard force || !PosixFileLayer().exists(path) else {
            return complain("\(name) is there already; :save -f \(name) replaces it")
        }
        let count = record.entries.count { $0.hasWorked }
        do {
            try FileTarget.write(Array(record.script().utf8), to: path, reachesStreams: true)
            print("\(count.counted("entry")) saved to \(name)\n")
        } catch { complain(error.message) }
    }

    private func load(_ name: String) {
        guard !name.isEmpty else { return complain(":load needs a file's name") }
        let bytes: [UInt8]
        do { bytes = try PosixFileLayer().contents(of: expanded(name), limit: 64 << 20) } catch {
            return complain(error.message)
        }
        var text = String(decoding: bytes, as: UTF8.self)
        // The line stays, so that line numbers match the file.
        if text.hasPrefix("#") { text = "--" + text.dropFirst() }
        let start = MonotonicTime.now()
        var running = evaluator
        let result = running.evaluate(text, name: name, number: nil)
        evaluator = running
        guard host.exitCode == nil else { return }
        switch result {
        case .success(let values):
            page(printer.printed(values, seconds: MonotonicTime.now().seconds(since: start)))
        case .failure(let error): report(error)
        }
    }

    private func expanded(_ name: String) -> String {
        guard name.hasPrefix("~/"), let home = Environment.value("HOME") else { return name }
        return home + name.dropFirst()
    }

    /// Asks before an undo of more than a person would do again by hand.
    private var isUndoMeant: Bool {
        guard isInputTerminal, let tally = host.items.undoTally, tally.count > 1000 else { return true }
        let question = "Take back: \(ChangeNotice.text(tally))? [y]es, [n]o: "
        let isMeant = ask(question) { PathConsent(answer: $0).flatMap { $0 == .folder ? nil : $0 == .yes } }
        if isMeant != true { print("nothing was taken back\n") }
        return isMeant ?? false
    }

    private func history(_ verb: String, _ done: String, _ nothing: String) {
        changes = ChangeNotice()
        guard let values = values(of: "return require('cubby').items:\(verb)()") else { return }
        guard values.first?.isTruthy ?? false else { return print(nothing + "\n") }
        // An item's picture changes without a field.
        let text = ChangeNotice.text(changes.history)
        print(text.isEmpty ? "\(done): what an item has beside its fields\n" : "\(done): \(text)\n")
    }

    private func showHistory(_ argument: String) {
        switch argument {
        case "on", "off":
            editor.history.isRecording = argument == "on"
            print(argument == "on" ? "entries are kept again\n" : "private: entries are kept nowhere\n")
        case "clear":
            editor.history.removeAll()
            do {
                try historyFile.rewrite(editor.history)
                print("the history is empty\n")
            } catch { complain(error.description) }
        default:
            if argument.isEmpty, !record.entries.isEmpty {
                let lines = record.entries.map { entry in
                    "\(String(repeating: " ", count: max(0, 4 - String(entry.number).count)))\(entry.number)  "
                        + entry.text.split(separator: "\n", omittingEmptySubsequences: false)
                        .joined(separator: "\n      ") + (entry.hasWorked ? "" : "   -- failed")
                }
                return page(lines.joined(separator: "\n") + "\n")
            }
            let found = editor.history.entries.filter { argument.isEmpty || $0.contains(argument) }
            page(found.suffix(1000).map { $0 + "\n" }.joined())
        }
    }

    private func setFormat(_ argument: String) {
        guard !argument.isEmpty else { return print("results are shown as \(printer.format.rawValue)\n") }
        guard let format = OutputFormat(rawValue: argument) else {
            let names = OutputFormat.allCases.map(\.rawValue)
            return complain(
                "':out \(argument)' is none of \(names.joined(separator: ", "))\(NearestNames.hint(for: argument, among: names))"
            )
        }
        printer.format = format
    }

    // MARK: The application

    private var hooksTable: String {
        let hooks = host.handlerStatistics
        guard !hooks.isEmpty else { return "no handlers\n" }
        func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded()))" }
        var table = TextTable(columns: printer.columns)
        table.add(.init(title: "event", cells: hooks.map(\.event)))
        table.add(.init(title: "handler", cells: hooks.map { TextTable.cut($0.title, to: 40) }))
        table.add(.init(title: "calls", cells: hooks.map { String($0.calls) }, isNumber: true))
        table.add(.init(title: "errors", cells: hooks.map { String($0.failures) }, isNumber: true))
        table.add(.init(title: "max ms", cells: hooks.map { milliseconds($0.longest) }, isNumber: true))
        table.add(.init(title: "priority", cells: hooks.map { String($0.priority) }, isNumber: true))
        table.add(.init(title: "group", cells: hooks.map { $0.group ?? "" }))
        table.add(.init(title: "", cells: hooks.map { $0.isPaused ? "paused" : "" }))
        return table.lines.joined(separator: "\n") + "\n"
    }

    private func showErrors() {
        seenFailures = host.handlerFailureCount
        let failures = host.handlerFailures
        guard !failures.isEmpty else { return print("no errors of handlers or timers\n") }
        page(failures.map { "\($0.title): \($0.message)\n" }.joined())
    }

    private func draw(_ argument: String) {
        let source = argument.isEmpty ? "return _" : "return \(argument)"
        let value: LuaValue
        do throws(LuaError) {
            let chunk = try host.state.load(
                Array(source.utf8), name: "=:img", environment: evaluator.scope.environment)
            value = try host.run(chunk).get().first ?? .nil
        } catch {
            return report(error)
        }
        switch host.inspect(value) {
        case .image(let image): show(image)
        case .item:
            guard let found = values(of: "local all = (...).images return all[1], #all", [value]),
                let first = found.first, case .image(let image) = host.inspect(first)
            else { return complain("the item has no image") }
            show(image)
            if case .integer(let count)? = found.last, count > 1 { print("the first of \(count) images\n") }
        default: complain(":img takes an item or an image, got \(value.typeName.withArticle)")
        }
    }
}
