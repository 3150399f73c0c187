import Application
import LineEditor
import Lua
import PropertyList
import REPL
import Scripting

/// Dispatches requests.
extension DebugSession {
    /// The only thread: one coroutine runs at a time, and the call stack includes those that resumed it.
    static let thread = 1

    /// Performs a request.
    ///
    /// - Returns: the response's body; nil if the response was sent already or follows later.
    func perform(_ request: DebugRequest) throws(DebugError) -> JSONValue? {
        let arguments = request.arguments
        if adapter.launch == nil {
            try adapter.admit(request)
            let isFirst = ["initialize", "attach", "disconnect"].contains(request.command)
            guard isAttached || isFirst else { throw DebugError("attach comes first") }
        }
        switch request.command {
        case "initialize":
            try adapter.initialize(request, isLaunched: false)
            return nil
        case "attach":
            guard adapter.launch == nil, !isAttached else { throw DebugError("the client is attached already") }
            guard claim() else { throw DebugError("another debugger is attached to this host: leave it first") }
            isAttached = true
            adapter.pending = request
            return nil
        case "configurationDone":
            guard !adapter.isConfigured else { throw DebugError("everything is configured already") }
            adapter.isConfigured = true
            return .object([:])
        case "setBreakpoints": return try setBreakpoints(arguments)
        case "setExceptionBreakpoints": return setErrors(arguments)
        case "threads":
            return .of(["threads": [JSONValue.of(["id": Self.thread, "name": "Lua"])]])
        case "stackTrace": return try stackTrace(arguments)
        case "scopes": return try scopes(arguments)
        case "variables": return try variables(arguments)
        case "setVariable": return try setVariable(arguments)
        case "evaluate": return try evaluate(arguments)
        case "setExpression": return try setExpression(arguments)
        case "completions": return try completions(arguments)
        case "exceptionInfo": return try exceptionInfo()
        case "source": return try source(arguments)
        case "loadedSources": return loadedSources()
        case "continue": return try go(.resume)
        case "next": return try go(.stepOver)
        case "stepIn": return try go(.stepIn)
        case "stepOut": return try go(.stepOut)
        case "pause": return pause()
        case "cancel", "disconnect": return .object([:])
        case "terminate", "restart":
            guard adapter.launch != nil else { throw DebugError("the host goes on: disconnect leaves it") }
            return .object([:])
        default: throw DebugError("'\(request.command)' is not done here")
        }
    }

    /// Performs the work that follows a successful response.
    func finish(_ request: DebugRequest) {
        switch request.command {
        case "attach" where adapter.pending?.sequence == request.sequence:
            limit?.cancel()
            limit = host.loop.after(DebugAdapterServer.configurationLimit) { [weak self] in
                if let self, !adapter.isConfigured { end() }
            }
            adapter.event("initialized")
        case "configurationDone":
            takeBreaks()
            // The response to `launch` or `attach` follows.
            if let pending = adapter.pending { adapter.respond(to: pending) }
            adapter.pending = nil
        case "disconnect":
            let ends = request.arguments["terminateDebuggee"]?.flag ?? (adapter.launch != nil)
            if ends, adapter.launch != nil { host.terminate(cause: .script, explicitly: true) }
            if !ends || adapter.launch == nil { end() }
        case "restart" where adapter.launch != nil:
            adapter.restarts = true
            host.terminate(cause: .script, explicitly: true)
        case "terminate" where adapter.launch != nil: host.terminate(cause: .script, explicitly: true)
        default: break
        }
    }

    // MARK: Going on

    private func go(_ resume: LuaDebugger.Resume) throws(DebugError) -> JSONValue {
        _ = try stop
        self.resume = resume
        return .object(["allThreadsContinued": .boolean(true)])
    }

    /// Pauses a running script at its next line, and a waiting one when it resumes.
    private func pause() -> JSONValue {
        if current == nil {
            stepReason = "pause"
            host.debugger.core.breakAtNextLine()
        }
        return .object([:])
    }

    /// The body of the `stopped` event.
    func stopped(_ stop: DebugStop) -> JSONValue {
        var reason = stepReason
        var text: String?
        var numbers: [Int] = []
        switch stop.stop.stop.reason {
        case .call: (reason, text) = ("breakpoint", "breakpoint()")
        case .breakpoint(let breakpoint, let failure):
            reason = "breakpoint"
            numbers = self.numbers(of: breakpoint)
            text = failure.map { "its condition failed: \($0.message)" }
        case .step: break
        case .error(let value): (reason, text) = ("exception", message(of: value))
        }
        return .of([
            "reason": reason, "threadId": Self.thread, "allThreadsStopped": true, "text": text,
            "description": stop.stop.title.map { "Paused in \($0)" },
            "hitBreakpointIds": numbers.isEmpty ? nil : numbers,
        ])
    }

    // MARK: Errors

    func message(of error: LuaValue) -> String { host.state.message(ofRaised: error) }

    private func setErrors(_ arguments: JSONValue) -> JSONValue {
        adapter.filters = arguments["filters"]?.elements?.compactMap(\.text) ?? []
        if adapter.isConfigured { applyFilters() }
        let answers = adapter.filters.map { JSONValue.of(["verified": ["uncaught", "all"].contains($0)]) }
        return .of(["breakpoints": answers])
    }

    func applyFilters() {
        let filters = adapter.filters
        host.debugger.core.errors =
            filters.contains("all") ? .all : filters.contains("uncaught") ? .uncaught : .none
    }

    private func exceptionInfo() throws(DebugError) -> JSONValue {
        let stop = try stop
        guard case .error(let value) = stop.stop.stop.reason else { throw DebugError("no error was raised here") }
        let calls = stop.stop.stop
        let stack = calls.lines { index in
            guard let call = index.map({ calls.calls[$0] }) else { return calls.gapText }
            return "\(call.source)\(call.line.map { ":\($0)" } ?? ""): in \(call.title)"
        }
        return .of([
            "exceptionId": value.textValue == nil ? value.typeName : "error", "description": message(of: value),
            "breakMode": host.debugger.core.errors == .all ? "always" : "unhandled",
            "details": JSONValue.of(["message": message(of: value), "stackTrace": stack.joined(separator: "\n")]),
        ])
    }
}

/// Completion in the client's console.
extension DebugSession {
    func completions(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        guard let text = arguments["text"]?.text, let column = arguments["column"]?.number else {
            throw DebugError("a completion needs a text and a column")
        }
        // Columns count UTF-16 units; the completer counts bytes.
        let line = arguments["line"].flatMap(\.number).map { adapter.conventions.line(client: $0) } ?? 1
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line &- 1) else { throw DebugError("the text has no line \(line)") }
        let current = lines[line - 1]
        let before = current.utf16.prefix(adapter.conventions.offset(client: column))
        let cursor = String(decoding: before, as: UTF16.self).utf8.count
        let completion = BreakCompletion(host, at: stop.stop, in: try call(arguments, stop))
        guard let found = completion.complete(String(current), cursor) else { return .of(["targets": [JSONValue]()]) }
        let bytes = Array(current.utf8)
        func count(_ range: Range<Int>) -> Int {
            String(decoding: bytes[range.clamped(to: bytes.indices)], as: UTF8.self).utf16.count
        }
        let (start, length) = (count(0..<found.replacement.lowerBound), count(found.replacement))
        let targets = found.candidates.map { candidate in
            JSONValue.of([
                "label": candidate.label, "text": candidate.text, "type": Self.types[candidate.kind],
                "detail": candidate.detail.isEmpty ? nil : candidate.detail, "start": start, "length": length,
            ])
        }
        return .of(["targets": targets])
    }

    private static let types: [CompletionCandidate.Kind: String] = [
        .keyword: "keyword", .variable: "variable", .constant: "value", .function: "function", .method: "method",
        .field: "field", .module: "module", .type: "class", .key: "property", .string: "text", .file: "file",
    ]
}

/// The adapter's capabilities. Only implemented ones are announced.
enum Capabilities {
    /// The body of the response to `initialize`. A launched program can also be terminated and restarted.
    static func body(isLaunched: Bool) -> JSONValue {
        let all = [
            "supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
            "supportsLogPoints", "supportsEvaluateForHovers", "supportsSetVariable", "supportsSetExpression",
            "supportsExceptionInfoRequest", "supportsLoadedSourcesRequest", "supportsDelayedStackTraceLoading",
            "supportsCancelRequest", "supportsClipboardContext", "supportsCompletionsRequest",
        ]
        let launched = ["supportsTerminateRequest", "supportsRestartRequest", "supportTerminateDebuggee"]
        var fields: PropertyListFields = [:]
        for name in isLaunched ? all + launched : all { fields[name] = .boolean(true) }
        fields["completionTriggerCharacters"] = .array([".", ":"].map(JSONValue.string))
        fields["exceptionBreakpointFilters"] = .array([
            filter("uncaught", "Uncaught errors", "Stops where an error that nothing catches is raised.", true),
            filter("all", "All errors", "Stops at errors that pcall catches, too.", false),
        ])
        return .fields(fields)
    }

    private static func filter(_ name: String, _ label: String, _ description: String, _ isDefault: Bool) -> JSONValue {
        .of(["filter": name, "label": label, "description": description, "default": isDefault])
    }
}

/// A client's numbering of lines and columns.
struct ClientConventions: Sendable {
    private var firstLine = 1
    private var firstColumn = 1

    init() {}

    /// Reads the arguments of `initialize`.
    init(_ arguments: JSONValue) throws(DebugError) {
        if let format = arguments["pathFormat"]?.text, format != "path" {
            throw DebugError("paths are plain here: pathFormat has to be path")
        }
        firstLine = arguments["linesStartAt1"]?.flag ?? true ? 1 : 0
        firstColumn = arguments["columnsStartAt1"]?.flag ?? true ? 1 : 0
    }

    /// The client's number for a line that is counted from 1.
    func client(line: Int) -> Int { line &- 1 &+ firstLine }

    /// The line for a client's number.
    func line(client number: Int) -> Int { number &- firstLine &+ 1 }

    /// The offset, counted from 0, of a client's column.
    func offset(client column: Int) -> Int { max(column &- firstColumn, 0) }

    /// The client's number of a line's first column.
    var column: Int { firstColumn }
}
