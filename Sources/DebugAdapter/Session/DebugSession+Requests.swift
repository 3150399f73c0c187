import Application
import Lua
import PropertyList
import Scripting

/// Dispatches requests.
extension DebugSession {
    /// The only thread: one coroutine runs at a time, and the call stack includes those that resumed it.
    static let thread = 1

    /// Performs a request.
    ///
    /// - Returns: the response's body; nil if the response was sent already or follows later.
    func perform(_ request: DebugRequest) throws(DebugRefusal) -> JSONValue? {
        let arguments = request.arguments
        if adapter.launch == nil {
            try adapter.admit(request)
            let isFirst = ["initialize", "attach", "disconnect"].contains(request.command)
            guard isAttached || isFirst else { throw DebugRefusal("attach comes first") }
        }
        switch request.command {
        case "initialize":
            try adapter.initialize(request, isLaunched: false)
            return nil
        case "attach":
            guard adapter.launch == nil, !isAttached else { throw DebugRefusal("the client is attached already") }
            guard claim() else { throw DebugRefusal("another debugger is attached to this host: leave it first") }
            isAttached = true
            adapter.pending = request
            return nil
        case "configurationDone":
            guard !adapter.isConfigured else { throw DebugRefusal("everything is configured already") }
            adapter.isConfigured = true
            return .object([:])
        case "setBreakpoints": return try setBreakpoints(arguments)
        case "setExceptionBreakpoints": return setErrors(arguments)
        case "threads":
            return .object(["threads": .array([.object(["id": .number(Self.thread), "name": .string("Lua")])])])
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
        case "continue": return try go(.goOn)
        case "next": return try go(.stepOver)
        case "stepIn": return try go(.stepIn)
        case "stepOut": return try go(.stepOut)
        case "pause": return pause()
        case "cancel", "disconnect": return .object([:])
        case "terminate", "restart":
            guard adapter.launch != nil else { throw DebugRefusal("the host goes on: disconnect leaves it") }
            return .object([:])
        default: throw DebugRefusal("'\(request.command)' is not done here")
        }
    }

    /// Performs the work that follows a successful response.
    func finish(_ request: DebugRequest) {
        switch request.command {
        case "attach" where adapter.pending?.sequence == request.sequence:
            limit?.cancel()
            limit = host.loop.after(DebugAdapter.configurationLimit) { [weak self] in
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

    private func go(_ resume: LuaDebugger.Resume) throws(DebugRefusal) -> JSONValue {
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
        var numbers: [JSONValue] = []
        switch stop.stop.stop.reason {
        case .call: (reason, text) = ("breakpoint", "breakpoint()")
        case .breakpoint(let breakpoint, let failure):
            reason = "breakpoint"
            numbers = self.numbers(of: breakpoint).map(JSONValue.number)
            text = failure.map { "its condition failed: \($0.message)" }
        case .step: break
        case .error(let value): (reason, text) = ("exception", message(of: value))
        }
        return .object([
            "reason": .string(reason), "threadId": .number(Self.thread), "allThreadsStopped": .boolean(true),
            "text": text.map(JSONValue.string), "description": stop.stop.title.map { .string("Paused in \($0)") },
            "hitBreakpointIds": numbers.isEmpty ? nil : .array(numbers),
        ])
    }

    // MARK: Errors

    func message(of error: LuaValue) -> String {
        error.textValue ?? host.state.describe(error).description
    }

    private func setErrors(_ arguments: JSONValue) -> JSONValue {
        adapter.filters = arguments["filters"]?.elements?.compactMap(\.text) ?? []
        if adapter.isConfigured { applyFilters() }
        return .object([
            "breakpoints": .array(
                adapter.filters.map { .object(["verified": .boolean(["uncaught", "all"].contains($0))]) })
        ])
    }

    func applyFilters() {
        let filters = adapter.filters
        host.debugger.core.errors =
            filters.contains("all") ? .all : filters.contains("uncaught") ? .uncaught : .none
    }

    private func exceptionInfo() throws(DebugRefusal) -> JSONValue {
        let stop = try stop
        guard case .error(let value) = stop.stop.stop.reason else { throw DebugRefusal("no error was raised here") }
        let stack = stop.calls.map { "\($0.source)\($0.line.map { ":\($0)" } ?? ""): in \($0.title)" }
        return .object([
            "exceptionId": .string(value.textValue == nil ? value.typeName : "error"),
            "description": .string(message(of: value)),
            "breakMode": .string(host.debugger.core.errors == .all ? "always" : "unhandled"),
            "details": .object([
                "message": .string(message(of: value)), "stackTrace": .string(stack.joined(separator: "\n")),
            ]),
        ])
    }
}
