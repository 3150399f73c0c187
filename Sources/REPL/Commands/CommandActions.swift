import Application
import Files
import Glibc
import Images
import Items
import LineEditor
import Lua
import PropertyList
import Scripting

/// The prompt's commands.
extension PromptSession {
    /// Performs a command, and calls `end` at its end, possibly before this returns.
    func perform(_ command: CommandLine, then end: @escaping () -> Void) {
        guard let known = Command.named(command.name) else {
            let hint = NearestNames.hint(for: command.name, among: Command.all.map(\.name))
            let other = function(named: command.name).map { ", and \($0) is a function of Lua" } ?? ""
            return complain("unknown command ':\(command.name)'\(hint); :help lists them\(other)", then: end)
        }
        let rest = command.rest
        // A line with further text is not this command.
        guard rest.isEmpty || !known.arguments.isEmpty else {
            return complain("':\(known.name)' takes no argument", then: end)
        }
        known.perform(self, rest, end)
    }

    /// The function or method that has the name of a command that is not there, such as `items:import`.
    private func function(named name: String) -> String? {
        let names = host.helpIndex.filter { $0.name.contains("(") }.map { String($0.name.prefix { $0 != "(" }) }
        return ["items:\(name)", name].first(where: names.contains)
            ?? names.first { $0.hasSuffix(".\(name)") || $0.hasSuffix(":\(name)") }
    }

    /// Sends a request whose answer ends the command.
    func complain(_ text: String, then end: () -> Void) {
        complain(text)
        end()
    }

    private func request(_ request: TerminalRequest, then end: @escaping () -> Void) {
        terminal.request(request) { [self] answer in
            if !answer.isDone { hasFailed = true }
            end()
        }
    }

    /// Runs Lua code of the prompt itself, and passes on its values, or nil after showing its error.
    func run(
        code: String, in environment: LuaTable? = nil, then completion: @escaping ([LuaValue]?) -> Void
    ) {
        do throws(LuaError) {
            let chunk = try host.state.load(
                Array(code.utf8), name: "=(prompt)", environment: environment ?? evaluator.scope.environment)
            terminal.run(chunk, isEntry: false) { [self] result in
                guard host.exitCode == nil else { return completion(nil) }
                switch result {
                case .success(let values): completion(values)
                case .failure(let error):
                    report(error)
                    completion(nil)
                }
            }
        } catch {
            report(error)
            completion(nil)
        }
    }

    // MARK: Help

    func help(_ subject: String) {
        guard subject.isEmpty else { return answer(HelpQuestion("?" + subject)) }
        var text = "Commands, completed by Tab like everything else:\n\n" + Command.table(Command.general)
        text += "\n  ?name, name?   what is known of a name\n"
        text += "  ??name         the source of a function, or all help that speaks of a word\n"
        text += "  _  _3  _err    the last result, that of entry 3, the last error\n"
        text += "  full(x)        a value whole, however long\n"
        text += "  :states        the life cycle; :trace, :inspect and :hex show callbacks, archives, bytes\n"
        text += "  help()         what scripts can use\n"
        show(help: text)
    }

    func answer(_ question: HelpQuestion?) {
        guard let question, !question.subject.isEmpty else {
            return show(help: host.helpOverview)
        }
        let texts = HelpText(host, functions)
        let subject = question.subject
        // Two question marks: the source, or else all names and descriptions that mention it.
        if question.wantsSource {
            if let source = texts.source(of: subject, locals: evaluator.scope.locals) { return page(source) }
            if let found = texts.search(subject) { return show(help: found) }
        }
        if let found = texts.text(subject, locals: evaluator.scope.locals) ?? texts.search(subject) {
            return show(help: found)
        }
        let names = host.state.declarations.all.flatMap { [$0.name] + $0.memberNames } + ErrorCodes.all
        complain("nothing is known of \(subject)\(NearestNames.hint(for: subject, among: names))")
    }

    // MARK: Entries

    /// `:time`: of one entry, or of every one from now on.
    func time(_ entry: String, then end: @escaping () -> Void) {
        guard entry.isEmpty else { return run(entry, timed: true, then: end) }
        times.areShown.toggle()
        print(times.areShown ? "every entry's time is shown\n" : "times are no longer shown\n")
        end()
    }

    /// `:history`: the entries of this session, or those of earlier ones.
    func history(_ argument: String, then end: @escaping () -> Void) {
        guard argument.isEmpty, !record.entries.isEmpty else {
            return request(TerminalRequest(kind: .history, argument: argument), then: end)
        }
        page(record.listing)
        end()
    }

    func edit(_ argument: String, then end: @escaping () -> Void) {
        let entry = record.entry(Int(argument))
        guard argument.isEmpty || entry != nil else {
            return complain("there is no entry \(argument); :history lists them", then: end)
        }
        request(TerminalRequest(kind: .edit, text: entry?.text ?? ""), then: end)
    }

    func save(_ name: String, then end: @escaping () -> Void) {
        let count = record.entries.count { $0.hasWorked }
        request(TerminalRequest(kind: .save, argument: name, text: record.script(), count: count), then: end)
    }

    func load(_ name: String, then end: @escaping () -> Void) {
        terminal.request(TerminalRequest(kind: .load, argument: name)) { [self] answer in
            guard answer.isDone else {
                hasFailed = true
                return end()
            }
            // The line is kept, so that line numbers match the file.
            let text = answer.text.hasPrefix("#") ? "--" + answer.text.dropFirst() : answer.text
            let start = MonotonicTime.now()
            func show(_ result: Result<[LuaValue], LuaError>) {
                guard host.exitCode == nil else { return end() }
                switch result {
                case .success(let values):
                    page(printer.printed(values, seconds: MonotonicTime.now().seconds(since: start)))
                case .failure(let error): report(error)
                }
                end()
            }
            do throws(LuaError) {
                let entry = try evaluator.begin(text, ofFile: name)
                terminal.run(entry.function, isEntry: false) { [self] in show(evaluator.end(entry, with: $0)) }
            } catch { show(.failure(error)) }
        }
    }

    /// Undoes a commit; more changes than a user would repeat by hand need confirmation.
    func undo(then end: @escaping () -> Void) {
        let undo = { [self] in restore("undo", "undone", "nothing to undo", then: end) }
        guard let tally = host.items.undoTally, tally.count > 1000 else { return undo() }
        let question = "Take back: \(ChangeNotice.text(tally))? [y]es, [n]o: "
        terminal.request(TerminalRequest(kind: .confirm, text: question)) { [self] answer in
            if answer.isDone { return undo() }
            print("nothing was taken back\n")
            end()
        }
    }

    func redo(then end: @escaping () -> Void) { restore("redo", "done again", "nothing to redo", then: end) }

    private func restore(_ verb: String, _ done: String, _ nothing: String, then end: @escaping () -> Void) {
        changes = ChangeNotice()
        // In an environment of its own: a script may have replaced globals.
        let environment = host.state.makeTable(fields: 1)
        environment["items"] = host.itemsValue
        run(code: "return items:\(verb)()", in: environment) { [self] values in
            defer { end() }
            guard let values else { return }
            guard values.first?.isTruthy ?? false else { return print(nothing + "\n") }
            // A change of an item's picture changes no field.
            let text = ChangeNotice.text(changes.history)
            print(text.isEmpty ? "\(done): what an item has beside its fields\n" : "\(done): \(text)\n")
        }
    }

    func setFormat(_ argument: String) {
        guard !argument.isEmpty else { return print("results are shown as \(printer.format.rawValue)\n") }
        guard let format = OutputFormat(exactly: argument) else {
            let names = OutputFormat.allCases.map(\.rawValue)
            return complain(
                "':out \(argument)' is none of \(names.joined(separator: ", "))\(NearestNames.hint(for: argument, among: names))"
            )
        }
        printer.format = format
    }

    // MARK: The application

    var doctor: Doctor {
        Doctor(
            host: host, printer: printer, isEditing: terminal.isEditing, settings: settings,
            environment: terminal.environment)
    }

    var hooksTable: String {
        let hooks = host.hooks.all
        guard !hooks.isEmpty else { return "no handlers\n" }
        func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded()))" }
        var table = TextTable(columns: printer.columns)
        table.add(.init(title: "event", cells: hooks.map(\.event)))
        table.add(.init(title: "handler", cells: hooks.map { TextTable.cut($0.name, to: 40) }))
        table.add(.init(title: "calls", cells: hooks.map { String($0.statistics.calls) }, isNumber: true))
        table.add(.init(title: "errors", cells: hooks.map { String($0.statistics.failures) }, isNumber: true))
        table.add(.init(title: "max ms", cells: hooks.map { milliseconds($0.statistics.longest) }, isNumber: true))
        table.add(.init(title: "priority", cells: hooks.map { String($0.options.priority) }, isNumber: true))
        table.add(.init(title: "group", cells: hooks.map { $0.options.group ?? "" }))
        table.add(.init(title: "", cells: hooks.map { $0.isPaused ? "paused" : "" }))
        return table.lines.joined(separator: "\n") + "\n"
    }

    func showFields() {
        do {
            page(FieldSummary.text(of: try host.items.fieldSummaries(), columns: printer.columns) + "\n")
        } catch {
            complain("\(error)")
        }
    }

    func showErrors() {
        seenFailures = host.handlerFailureCount
        let failures = host.handlerFailures
        guard !failures.isEmpty else { return print("no errors of handlers or timers\n") }
        page(failures.map { "\($0.title): \($0.message)\n" }.joined())
    }

    func draw(_ argument: String, then end: @escaping () -> Void) {
        run(code: argument.isEmpty ? "return _" : "return \(argument)") { [self] values in
            if let values { draw(values.first ?? .nil) }
            end()
        }
    }

    private func draw(_ value: LuaValue) {
        switch host.inspect(value) {
        case .image(let image): show(image)
        case .item(let item):
            guard let key = try? item.itemKey, let images = try? host.images.images(forKey: key),
                let first = images.first
            else { return complain("the item has no image") }
            show(first)
            if images.count > 1 { print("the first of \(images.count) images\n") }
        default: complain(":img takes an item or an image, got \(value.typeName.withArticle)")
        }
    }
}

/// `:columns`: the fields that tables show.
extension PromptSession {
    func chooseColumns(_ argument: String) {
        let words = ChosenColumns.words(argument)
        switch words {
        case []:
            let chosen = printer.chosenFields.map { $0.contains(" ") ? $0.quoted() : $0 }
            return print(
                chosen.isEmpty
                    ? "tables show the fields of the question, then those that differ; :columns name … chooses others\n"
                    : "tables show \(chosen.joined(separator: " ")); :columns * goes back\n")
        case ["*"], ["auto"]:
            printer.chosenFields = []
        default:
            let known = ChosenColumns.known(host)
            if let absent = words.first(where: { !known.contains($0) }) {
                return complain("no field '\(absent)'\(NearestNames.hint(for: absent, among: known))")
            }
            printer.chosenFields = words
        }
        // The last table, with its new columns.
        let last = host.state.globals["_"]
        guard !last.isNil else { return }
        let shown = printer.printed([last], seconds: 0)
        if shown.includesDuration { page(shown) }
    }
}

/// The argument of `:columns`.
enum ChosenColumns {
    /// The fields of the items, and those of the last value's records.
    static func known(_ host: ScriptHost) -> [String] {
        var names = host.items.fieldNames + ["itemKey", "images"]
        if case .table(let table) = host.state.globals["_"], let rows = RecordRows(table, ValuePrinter(host), host) {
            names += rows.names(in: 0..<min(rows.count, 40))
        }
        return names.unique()
    }

    /// The words of a text, each once; in quotes a name may have blanks.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        for (place, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if place % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split { $0.is(" ") || $0.is(",") || $0.is("\t") }.map(String.init)
            }
        }
        return words.unique()
    }
}

/// The report of `:doctor`: the terminal, the container, the sandbox, and missing packages.
struct Doctor {
    let host: ScriptHost
    let printer: ValuePrinter
    let isEditing: Bool
    let settings: PromptSettings
    /// The terminal's variables.
    let environment: (String) -> String?

    var text: String {
        let files = PosixFileLayer()
        let container = host.container
        let archive = host.items.archivePath
        let saved =
            archive.map { path in
                guard files.exists(path) else { return "not yet" }
                return host.items.hasChanges ? "changes wait for a save" : "yes"
            } ?? "no: the items end with this process"
        let pictures =
            switch printer.pictures?.graphics {
            case .kitty?: "kitty graphics"
            case .iTerm2?: "iTerm2's inline images"
            case .sixel?: "sixel"
            case .halfBlocks(.trueColor)?: "half blocks in 24 bits of colour"
            case .halfBlocks(.palette256)?: "half blocks in 256 colours"
            case nil: "none"
            }
        let term = environment("TERM") ?? "not set"
        let editor = environment("VISUAL") ?? environment("EDITOR") ?? "vi (VISUAL and EDITOR are not set)"
        let initScript = PathText.join(container.scripts, "init.lua")
        var lines: [(String, String)] = [
            ("version", "Cubby \(CubbyVersion.string), Lua 5.4"),
            ("container", container.title + (host.options.isReadOnly ? " (read-only)" : "")),
            ("items", "\(host.items.count.grouped) in \(archive.map { DisplayPath.abbreviate($0) } ?? "memory")"),
            ("saved", saved),
            ("init.lua", files.exists(initScript) ? DisplayPath.abbreviate(initScript) : "none"),
            ("prompt.lua", settings.files.isEmpty ? "none" : settings.files.joined(separator: ", ")),
            ("sandbox", "\(host.sandboxDescription), by \(host.fence.method)"),
            ("terminal", "\(term), \(printer.columns)×\(printer.rows), pictures: \(pictures)"),
            ("colours", settings.colorsText),
            ("line editor", isEditing ? "on" : "off: the terminal's own lines (TERM=dumb, or no terminal)"),
            ("editor", editor), ("clock", host.localText(.now())),
            (
                "handlers",
                "\(host.hooks.all.count), \(host.handlerFailureCount.counted("error")) since the launch"
            ),
            ("memory of Lua", "\(host.state.memory.used / 1024) kB"),
        ]
        let language = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        if !language.uppercased().contains("UTF") {
            lines.append(("missing", "LANG names no UTF-8 locale: signs outside of ASCII may look wrong"))
        }
        return lines.alignedLines.map { "  \($0)\n" }.joined()
    }
}
