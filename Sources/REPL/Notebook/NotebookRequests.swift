import Application
import Files
import Glibc
import Items
import Jupyter
import LineEditor
import Lua
import PropertyList
import Scripting

/// The requests of front ends, and their answers.
extension NotebookKernel {
    /// Performs a request. What is told meanwhile belongs to it, between `busy` and `idle`.
    func perform(_ request: JupyterMessage) {
        publish("status", ["execution_state": .string("busy")], parent: request.header)
        defer { publish("status", ["execution_state": .string("idle")], parent: request.header) }
        let fields = request.content.fields ?? [:]
        switch request.type {
        case "execute_request" where request.channel == .shell && fields["code"]?.text == nil:
            let text = PropertyListValue.string("the request has no text named code")
            let failure: PropertyListFields = ["ename": .string("Error"), "evalue": text, "traceback": .array([text])]
            reply(to: request, failure, status: "error")
        case "execute_request" where request.channel == .shell:
            execute(NotebookCell(request, after: session.evaluator.count))
        case "kernel_info_request": reply(to: request, Self.description(denial ?? Banner.notebook(host)))
        case "complete_request": complete(request, fields)
        case "inspect_request": inspect(request, fields)
        case "is_complete_request": reply(to: request, completeness(of: fields.string("code")))
        case "history_request": reply(to: request, ["history": .array(history.found(fields, in: session.record))])
        case "comm_info_request": reply(to: request, ["comms": .fields([:])])
        case "comm_open":
            // There is no target of any name: the protocol's answer is to close it.
            let content: PropertyListFields = ["comm_id": .string(fields.string("comm_id")), "data": .fields([:])]
            publish("comm_close", content, parent: request.header)
        case "interrupt_request":
            host.cancelForeground()
            reply(to: request, [:])
        case "shutdown_request":
            let content: PropertyListFields = ["restart": .boolean(fields.flag("restart"))]
            reply(to: request, content)
            publish("shutdown_reply", content, parent: request.header)
            // As a signal does: in order, also while a script runs or a transaction is open.
            host.loop.poster.post(.terminate)
            host.state.interrupter.interrupt([.events, .urgent])
        case "comm_msg", "comm_close": break
        default: queue.reject()
        }
    }

    private func reply(to request: JupyterMessage, _ content: PropertyListFields, status: String = "ok") {
        var content = content
        content["status"] = content["status"] ?? .string(status)
        queue.send(JupyterAnswer(request.type.replacing("_request", with: "_reply"), content, to: request))
    }

    /// What the kernel is.
    private static func description(_ banner: String) -> PropertyListFields {
        [
            "protocol_version": .string("5.4"), "implementation": .string("cubby"),
            "implementation_version": .string(CubbyVersion.string), "banner": .string(banner),
            "language_info": .fields([
                "name": .string("lua"), "version": .string(String(LuaRelease.name.dropFirst("Lua ".count))),
                "mimetype": .string("text/x-lua"), "file_extension": .string(".lua"), "pygments_lexer": .string("lua"),
                "codemirror_mode": .string("lua"),
            ]), "debugger": .boolean(false), "help_links": .array([]),
        ]
    }

    // MARK: Cells

    private func execute(_ started: NotebookCell) {
        let (request, evaluator) = (started.request, session.evaluator)
        guard request.number > abortedNumber else {
            return reply(to: request, ["execution_count": .integer(Int64(evaluator.count))], status: "aborted")
        }
        endOutput()
        (parent, cell, session.failure) = (request.header, started, nil)
        peerChanges.isQuiet = true
        defer {
            (cell, peerChanges.isQuiet) = (nil, false)
            // A timer's question that has no answer yet would take that of the next cell.
            host.input.supplyEnd()
        }
        // Scripts read from the front end, or where it does not answer from the process's own input.
        _ = host.input.takeRest()
        host.input.descriptor = started.allowsInput && silentInput >= 0 ? silentInput : StandardDescriptor.input
        let isEmpty = started.code.allSatisfy(\.isWhitespace)
        if !isEmpty, started.isStored { history.add(started.code) }
        if !isEmpty, !started.isSilent {
            let number = PropertyListValue.integer(Int64(started.number))
            publish("execute_input", ["code": .string(started.code), "execution_count": number], parent: parent)
        }
        evaluator.isNumbering = started.isStored
        let sql = NotebookCell.sql(started.code)
        // An entry here ends before the call returns.
        if let denial, !isEmpty {
            session.hasFailed = true
            cell?.error = LuaError(.runtime, denial)
            cell?.failure = denial
        } else if !isEmpty {
            session.perform(entry: sql ?? started.code, isSQL: sql != nil) {}
        }
        evaluator.isNumbering = true
        if !isEmpty, evaluator.count < started.number { evaluator.passNumber() }
        endOutput()
        var content: PropertyListFields = [
            "execution_count": .integer(Int64(evaluator.count)), "payload": .array([]),
            "user_expressions": .fields([:]),
        ]
        guard let message = session.failure, let failure = cell?.failureFields(message) else {
            content["user_expressions"] = .fields(expressions(of: request))
            return reply(to: request, content)
        }
        publish("error", failure, parent: parent)
        for (name, value) in failure { content[name] = value }
        if started.stopsOnError { abortedNumber = queue.lastNumber }
        reply(to: request, content, status: "error")
    }

    /// The values of the expressions that a front end asks for beside a cell.
    private func expressions(of request: JupyterMessage) -> PropertyListFields {
        let asked = request.content.fields?["user_expressions"]?.fields ?? [:]
        return PropertyListFields(asked.map { name, text in (name, .fields(value(of: text.text ?? ""))) })
    }

    private func value(of expression: String) -> PropertyListFields {
        do throws(LuaError) {
            let environment = session.evaluator.scope.environment
            let function = try host.state.loadEntry(expression, name: "=(expression)", environment: environment)
            let text = session.printer.text(try host.run(function).get(), seconds: 0).dropLast()
            let data: PropertyListFields = ["text/plain": .string(String(text))]
            return ["status": .string("ok"), "data": .fields(data), "metadata": .fields([:])]
        } catch {
            let text = PropertyListValue.string(error.message)
            return ["status": .string("error"), "ename": .string("Error"), "evalue": text, "traceback": .array([text])]
        }
    }

    // MARK: Text that is being written

    /// The text of a request with its cursor, which the protocol counts in characters of Unicode.
    private func place(_ fields: PropertyListFields) -> (text: String, cursor: Int) {
        let code = fields.string("code")
        let text = NotebookCell.sql(code) ?? code
        let scalars = text.unicodeScalars
        let end = scalars.index(
            scalars.startIndex, offsetBy: max(fields.integer("cursor_pos"), 0), limitedBy: scalars.endIndex)
        return (text, text.utf8.distance(from: text.startIndex, to: end ?? text.endIndex))
    }

    private func complete(_ request: JupyterMessage, _ fields: PropertyListFields) {
        let (text, cursor) = place(fields)
        let found = session.completer.complete(text, cursor)
        let range = found?.replacement ?? cursor..<cursor
        func position(_ offset: Int) -> PropertyListValue {
            .integer(Int64(String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars.count))
        }
        let (start, end) = (position(range.lowerBound), position(range.upperBound))
        let candidates = found?.candidates ?? []
        // Beside the texts, what a menu shows of them.
        let kinds = candidates.map { candidate in
            PropertyListValue.fields([
                "start": start, "end": end, "text": .string(candidate.text), "type": .string(candidate.kind.rawValue),
                "signature": .string(candidate.detail),
            ])
        }
        let content: PropertyListFields = [
            "matches": .array(candidates.map { .string($0.text) }), "cursor_start": start, "cursor_end": end,
            "metadata": .fields(["_jupyter_types_experimental": .array(kinds)]),
        ]
        reply(to: request, content)
    }

    private func inspect(_ request: JupyterMessage, _ fields: PropertyListFields) {
        let (text, cursor) = place(fields)
        let help = HelpText(host, session.functions)
        let locals = session.evaluator.scope.locals
        let subject = InspectedName.subject(of: text, at: cursor)
        var found = subject.flatMap { help.text($0, locals: locals) }
        if fields.integer("detail_level") > 0, let subject, let source = help.source(of: subject, locals: locals) {
            found = (found.map { $0 + "\n" } ?? "") + source
        }
        var data: PropertyListFields = [:]
        if let found { data["text/plain"] = .string(WrappedText.wrapped(found, to: session.printer.columns)) }
        reply(to: request, ["found": .boolean(found != nil), "data": .fields(data), "metadata": .fields([:])])
    }

    private func completeness(of code: String) -> PropertyListFields {
        let sql = NotebookCell.sql(code).map { SQLEntry.completeness(of: $0, host.sql) }
        switch sql ?? Evaluator.completeness(of: code, in: host.state, host.sql) {
        case .complete: return ["status": .string("complete")]
        case .invalid: return ["status": .string("invalid")]
        case .incomplete(let levels):
            let indent = String(repeating: " ", count: levels * session.settings.editing.indentWidth)
            return ["status": .string("incomplete"), "indent": .string(indent)]
        }
    }
}

/// The name at a cursor that help is wanted for.
enum InspectedName {
    /// The name with the expression before it, `items:createItem`, also where the cursor is behind the parenthesis of its
    /// call; a command of the prompt; nil for neither.
    static func subject(of text: String, at cursor: Int) -> String? {
        if let command = CommandLine.parse(text), command.nameRange.contains(max(cursor - 1, 0)) {
            return ":\(command.name)"
        }
        let lua = LuaText(text)
        var last = lua.tokens.lastIndex { $0.range.lowerBound < max(cursor, 1) }
        // A cursor before a name is at it.
        if let next = lua.tokens.firstIndex(where: { $0.range.lowerBound == cursor }), lua.isName(next) { last = next }
        guard var end = last else { return nil }
        while lua.isToken(end, "(", "{"), end > 0 { end -= 1 }
        guard lua.isName(end) else { return nil }
        var start = end
        while start >= 2, lua.isToken(start - 1, ".", ":"), lua.isName(start - 2) {
            start -= 2
        }
        let bytes = lua.bytes[lua.tokens[start].range.lowerBound..<lua.tokens[end].range.upperBound]
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The entries of earlier sessions and of this one, as front ends ask for them.
final class NotebookHistory {
    /// An entry: of session 1, which are all before this one, or of this one, 2.
    private typealias Entry = (session: Int, number: Int, text: String, result: String?)

    private let host: ScriptHost
    private let file: HistoryFile
    private let earlier: EditorHistory

    init(_ host: ScriptHost) {
        self.host = host
        file = HistoryFile(
            path: PathText.join(host.container.applicationSupport, "repl_history"), followsLinks: false)
        earlier = (try? file.load()) ?? EditorHistory()
    }

    /// Stores a cell for later sessions, as the prompt stores its entries.
    func add(_ code: String) {
        guard !host.options.isReadOnly, earlier.accepts(code) else { return }
        do throws(HistoryError) { try file.append(code) } catch {
            host.report("cubby: \(error)")
        }
    }

    /// The entries that a request asks for, each with its session and its number.
    func found(_ request: PropertyListFields, in record: SessionRecord) -> [PropertyListValue] {
        var found: [Entry] = earlier.entries.enumerated().map { (1, $0.offset + 1, $0.element, nil) }
        found += record.entries.map { (2, $0.number, $0.text, $0.result) }
        let number = request.integer("n")
        switch request.string("hist_access_type") {
        case "range":
            // 0 is this session, and -1 the one before.
            let session = request.integer("session") <= 0 ? 2 + request.integer("session") : request.integer("session")
            let (start, stop) = (request.integer("start"), request.integer("stop"))
            found = found.filter { $0.session == session && $0.number >= start && (stop <= 0 || $0.number < stop) }
        case "search":
            let pattern = request.string("pattern")
            var seen: NameSet = []
            found = found.reversed().filter { entry in
                fnmatch(pattern, entry.text, 0) == 0 && (!request.flag("unique") || seen.insert(entry.text).inserted)
            }.reversed()
            if number > 0 { found = found.suffix(number) }
        default: found = found.suffix(max(number, 0))
        }
        return found.map { entry in
            let text = PropertyListValue.string(entry.text)
            let result = entry.result.map(PropertyListValue.string) ?? .null
            return .array([
                .integer(Int64(entry.session)), .integer(Int64(entry.number)),
                request.flag("output") ? .array([text, result]) : text,
            ])
        }
    }
}

/// A cell of a notebook: what its front end asks for, and what came of it.
struct NotebookCell {
    let request: JupyterMessage
    let code: String
    /// Whether nothing of it is shown but what it prints.
    let isSilent: Bool
    /// Whether it is kept in the history, and has a number.
    let isStored: Bool
    /// Whether its front end answers questions.
    let allowsInput: Bool
    /// Whether cells that wait are not run after its failure.
    let stopsOnError: Bool
    let number: Int
    /// What its function has returned, until that is shown.
    var values: [LuaValue]?
    var error: LuaError?
    /// The text of its failure.
    var failure = ""

    /// - Parameters:
    ///   - request: the front end's.
    ///   - count: the number of entries before it.
    init(_ request: JupyterMessage, after count: Int) {
        let fields = request.content.fields ?? [:]
        func flag(_ name: String, _ usual: Bool) -> Bool { (fields[name] ?? .boolean(usual)) == .boolean(true) }
        self.request = request
        code = fields["code"]?.text ?? ""
        isSilent = flag("silent", false)
        isStored = !isSilent && flag("store_history", true)
        allowsInput = flag("allow_stdin", true)
        stopsOnError = flag("stop_on_error", true)
        number = isStored ? count + 1 : count
    }

    /// The statement below a line `%%sql`, which becomes blank: the statement's lines keep their numbers.
    static func sql(_ code: String) -> String? {
        let line = code.prefix { !$0.isNewline }
        guard line.trimmed == "%%sql" else { return nil }
        return String(repeating: " ", count: line.utf8.count) + code[line.endIndex...]
    }

    /// The name of its failure.
    var errorName: String {
        switch error?.kind {
        case .cancelled, .shutdown: "Interrupted"
        case .deadline, .memory, .output, .callDepth: "LimitReached"
        case .runtime, .argument: "Error"
        case .syntax: "SyntaxError"
        case nil: CommandLine.parse(code) == nil ? "SyntaxError" : "CommandError"
        }
    }

    /// The failure, as a reply and all front ends have it.
    ///
    /// - Parameter message: its message, whose lines are not wrapped; empty if there is only the text.
    /// - Returns: the fields.
    func failureFields(_ message: String) -> PropertyListFields {
        let lines = failure.split(separator: "\n").map(String.init)
        let value = message.isEmpty ? lines.first ?? "the host has ended" : message
        return [
            "ename": .string(errorName), "evalue": .string(value),
            "traceback": .array(lines.map(PropertyListValue.string)),
        ]
    }
}

/// What a cell may still print. What is beyond is left out, and counted.
struct NotebookOutput {
    static let lineLimit = 100_000
    static let byteLimit = 16 << 20

    private var lines = 0
    private var bytes = 0
    private(set) var leftOut = (lines: 0, bytes: 0)

    /// Counts a text.
    ///
    /// - Returns: the part of it that is shown.
    mutating func take(_ text: [UInt8]) -> ArraySlice<UInt8> {
        var end = text.startIndex
        while end < text.endIndex, leftOut.bytes == 0, lines < Self.lineLimit, bytes < Self.byteLimit {
            if text[end] == 0x0A { lines += 1 }
            bytes += 1
            end += 1
        }
        leftOut = (leftOut.lines + text[end...].count { $0 == 0x0A }, leftOut.bytes + text.endIndex - end)
        return text[..<end]
    }

    /// Says what was left out; nil if nothing was.
    var notice: String? {
        guard leftOut.bytes > 0 else { return nil }
        let rest = leftOut.lines > 0 ? leftOut.lines.counted("line") : leftOut.bytes.counted("byte")
        return "… and \(rest) more: a cell shows \(Self.lineLimit.grouped) lines or \(Self.byteLimit >> 20) MB\n"
    }
}
