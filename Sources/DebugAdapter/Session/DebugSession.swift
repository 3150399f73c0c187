import Application
import Files
package import Lua
import PropertyList
package import Scripting

/// A client's session with a host: serves requests on the host's thread, and shows breaks.
///
/// Requests that run no script code are also served between two instructions of a script. At a break all are served;
/// during an evaluation only those that end it.
package final class DebugSession {
    /// Requests that are served during an evaluation.
    static let urgent: Set<String> = ["cancel", "pause", "disconnect", "terminate", "restart"]

    let adapter: DebugAdapterServer
    unowned let host: ScriptHost
    /// Called at the end of an attached session.
    var onEnd: () -> Void = {}
    /// Makes this session the only one that is attached; false if there is another.
    var claim: () -> Bool = { true }
    /// Whether the client of a running host has attached.
    var isAttached = false
    /// The end of the time for a client's next step.
    var limit: LoopTimer?
    private var notifier: EventNotifier?
    /// The front end before this session.
    private weak var formerFrontEnd: (any DebuggerFrontEnd)?
    private var formerErrors = LuaDebugger.Errors.none
    private var isServing = false
    /// The number of the request being served.
    private var served: Int?
    private(set) var isEnded = false
    /// The current break; nil while the script runs.
    private(set) var current: DebugStop?
    /// How the script resumes; nil until that is decided.
    var resume: LuaDebugger.Resume?
    /// The first bytes of a character whose others are still to come.
    private var unfinished: [DebugOutput.Category: [UInt8]] = [:]
    /// The reason to report for the next break of a step.
    var stepReason = "step"

    init(_ adapter: DebugAdapterServer, _ host: ScriptHost) {
        self.adapter = adapter
        self.host = host
    }

    /// Starts to serve the client, and sets its breakpoints of an earlier run again.
    func begin() {
        let notifier = host.loop.notifier { [weak self] in self?.received() }
        self.notifier = notifier
        adapter.connection.wake(
            DebugConnection.Receiver(notifier: notifier, interrupter: host.state.interrupter))
        restoreBreakpoints()
        if adapter.isConfigured { takeBreaks() }
        // The client may have sent a message before it could wake up the loop.
        notifier.notify()
    }

    /// Shows breaks to the client from now on: its configuration is done.
    func takeBreaks() {
        (formerFrontEnd, formerErrors) = (host.debugger.frontEnd, host.debugger.core.errors)
        guard adapter.launch?.isPlain != true else { return }
        host.debugger.frontEnd = self
        applyFilters()
    }

    /// Called when the launched program is about to run.
    package func programWillRun() {
        guard let launch = adapter.launch, launch.stopsOnEntry, !launch.isPlain, !isEnded else { return }
        stepReason = "entry"
        host.debugger.core.breakAtNextLine()
    }

    /// Detaches from the host, and removes the client's breakpoints.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        endOutput()
        limit?.cancel()
        if let notifier { host.loop.forget(notifier) }
        for path in adapter.breakpoints.keys { removeBreakpoints(of: path) }
        // A connection that was not attached has done nothing.
        if adapter.launch != nil || isAttached {
            host.debugger.core.onPlaced = { _ in }
            host.debugger.core.cancelStep()
        }
        if host.debugger.frontEnd === self {
            (host.debugger.frontEnd, host.debugger.core.errors) = (formerFrontEnd, formerErrors)
        }
        if host.frontEnd === self { host.frontEnd = nil }
        adapter.connection.end(waits: false)
        onEnd()
    }

    // MARK: Requests

    /// Called on the host's thread, possibly between two instructions of a script.
    private func received() {
        guard !isEnded else { return }
        if isServing {
            // While an evaluation is being compiled, an interrupt would stop the script itself.
            guard current?.stop.isEvaluating ?? true else { return }
            // The evaluation ends; other requests wait for it.
            if adapter.connection.inbox.isClosed { return host.cancelForeground() }
            while let request = adapter.connection.inbox.next(of: Self.urgent) {
                // A cancellation that arrives after its request was done must not stop the next one.
                if request.command != "cancel" || request.arguments["requestId"]?.number == served {
                    host.cancelForeground()
                }
                serve(request)
            }
        } else if current == nil {
            serve()
        }
    }

    /// Serves the queued requests.
    private func serve() {
        isServing = true
        defer { isServing = false }
        while !isEnded, resume == nil, let request = adapter.connection.inbox.next() {
            served = request.sequence
            serve(request)
            served = nil
        }
        guard !isEnded, resume == nil, adapter.connection.inbox.isClosed else { return }
        adapter.reportProblem()
        // Nobody is left to say how a paused program goes on.
        if current != nil, adapter.launch != nil { host.terminate(Self.lostStatus, cause: .eof, explicitly: true) }
        end()
    }

    /// The exit status of a program whose client is lost at a break: failed input.
    private static let lostStatus: Int32 = 74

    /// Repeats the notification of urgent requests that arrived with the current one or during its compilation, so that
    /// the running code polls again.
    func lookAgain() {
        guard adapter.connection.inbox.holds(Self.urgent) else { return }
        notifier?.notify()
        host.state.interrupter.interrupt(.events)
    }

    private func serve(_ request: DebugRequest) {
        do throws(DebugError) {
            if let body = try perform(request) { adapter.respond(to: request, body) }
            finish(request)
        } catch {
            adapter.refuse(request, error.message)
            if adapter.isRejected { end() }
        }
    }

    /// The current break, for a request that needs one.
    var stop: DebugStop {
        get throws(DebugError) {
            guard let current else { throw DebugError("the script runs: pause it first") }
            return current
        }
    }

    // MARK: Breaks

    /// Serves the client at a break.
    private func serve(_ stop: DebugStop) -> LuaDebugger.Resume {
        current = stop
        resume = nil
        defer {
            current = nil
            resume = nil
        }
        adapter.event("stopped", stopped(stop))
        stepReason = "step"
        while true {
            serve()
            if resume != nil || stop.stop.ending != nil || isEnded { break }
            stop.stop.turn()
            if stop.stop.ending != nil { break }
        }
        if resume == nil, !isEnded { adapter.event("continued", .object(["threadId": .number(Self.thread)])) }
        return resume ?? .resume
    }
}

/// Shows the breaks of the host's debugger.
extension DebugSession: DebuggerFrontEnd {
    package var canLook: Bool { adapter.isConfigured && !isEnded && current == nil && !isServing }

    package func look(at stop: ScriptBreak) -> LuaDebugger.Resume {
        adapter.lastStop += 1
        return serve(DebugStop(stop, number: adapter.lastStop))
    }

    package func show(message: String) {
        adapter.connection.outbox.send(DebugOutput(category: .console, text: message + "\n"))
    }
}

/// Sends the output of a launched program to the client.
extension DebugSession: HostFrontEnd {
    package var isTerminal: Bool { false }

    package func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        guard !isEnded else { return false }
        let category: DebugOutput.Category = toStandardError ? .stderr : .stdout
        // A character whose last bytes are still to come waits for them.
        let text = (unfinished.removeValue(forKey: category) ?? []) + bytes
        if text.openEnd > 0 { unfinished[category] = Array(text.suffix(text.openEnd)) }
        var output = DebugOutput(category: category, text: String(escaping: text.dropLast(text.openEnd)))
        if output.text.isEmpty { return true }
        if host.state.depth > 0, let place = host.state.place(ofLevel: 1), let colon = place.lastIndex(of: ":"),
            let line = Int(place[place.index(after: colon)...]), line > 0,
            let source = adapter.sources.source(of: String(place[..<colon].dropFirst()), in: host)
        {
            (output.source, output.line) = (source, adapter.conventions.client(line: line))
        }
        adapter.connection.outbox.send(output)
        return true
    }

    /// Sends the characters that no further output has finished.
    func endOutput() {
        for (category, bytes) in unfinished {
            adapter.connection.outbox.send(DebugOutput(category: category, text: String(escaping: bytes)))
        }
        unfinished = [:]
    }
}

/// A break for the client: its calls and values have numbers, which are valid until the script resumes.
final class DebugStop {
    /// Maximum number of numbered values.
    private static let limit = 1 << 20

    let stop: ScriptBreak
    let number: Int
    private var containers: [VariableContainer] = []
    private var children: [Int: ValueChildren] = [:]

    init(_ stop: ScriptBreak, number: Int) {
        self.stop = stop
        self.number = number
    }

    var calls: [LuaBreakCall] { stop.stop.calls }

    // MARK: Calls

    /// The number of a call. It includes the break's, so that a call of an earlier break is recognized.
    func frame(_ call: Int) -> Int { (number & 0x3F_FFFF) << 8 | (call + 1) }

    func call(ofFrame frame: Int) throws(DebugError) -> Int {
        guard frame >> 8 == number & 0x3F_FFFF, calls.indices.contains(frame & 0xFF - 1) else {
            throw DebugError("there is no such call at this break")
        }
        return frame & 0xFF - 1
    }

    // MARK: Values

    private var base: Int { (number & 0x3FF) << 20 + 1 }

    /// A reference to an expandable container; 0 if there are too many.
    func reference(to container: VariableContainer) -> Int {
        guard containers.count < Self.limit - 1 else { return 0 }
        containers.append(container)
        return base + containers.count - 1
    }

    func container(_ reference: Int) throws(DebugError) -> VariableContainer {
        guard containers.indices.contains(reference &- base) else {
            throw DebugError("there are no such variables at this break")
        }
        return containers[reference - base]
    }

    /// A value's children, cached when first expanded.
    func children(_ reference: Int, of value: LuaValue, in host: ScriptHost) -> ValueChildren {
        if let known = children[reference] { return known }
        let found = ValueChildren(value, in: host, at: stop)
        children[reference] = found
        return found
    }

    /// Clears the cached children: code may have changed them.
    func forgetChildren() { children = [:] }
}

/// The call stack at a break, and the sources of chunks.
extension DebugSession {
    func stackTrace(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        let frames = stop.stop.stop.lines { $0.map { frame($0, stop) } ?? gap(stop) }
        let start = min(max(arguments["startFrame"]?.number ?? 0, 0), frames.count)
        let levels = arguments["levels"]?.number ?? 0
        let end = levels > 0 ? min(start + min(levels, frames.count), frames.count) : frames.count
        return .of(["stackFrames": Array(frames[start..<end]), "totalFrames": frames.count])
    }

    private func frame(_ index: Int, _ stop: DebugStop) -> JSONValue {
        let call = stop.calls[index]
        let source = call.kind == .host ? nil : adapter.sources.source(of: call.chunk, in: host)
        // A coroutine's frames are inside those that resumed it.
        let isInCoroutine = call.coroutine < (stop.calls.last?.coroutine ?? 0)
        return .of([
            "id": stop.frame(index), "name": call.title + (isInCoroutine ? " (in a coroutine)" : ""),
            "source": source, "line": call.line.map { adapter.conventions.client(line: $0) } ?? 0,
            "column": call.line == nil ? 0 : adapter.conventions.column,
            "presentationHint": source == nil ? "subtle" : nil,
        ])
    }

    /// The calls that are left out: a label, which belongs to no call.
    private func gap(_ stop: DebugStop) -> JSONValue {
        .of([
            "id": stop.frame(0xFE), "name": stop.stop.stop.gapText, "line": 0, "column": 0,
            "presentationHint": "label",
        ])
    }

    func scopes(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        let stop = try stop
        let call = try call(arguments, stop)
        func scope(_ name: String, _ hint: String?, _ container: VariableContainer, isLarge: Bool = false) -> JSONValue
        {
            .of([
                "name": name, "presentationHint": hint, "variablesReference": stop.reference(to: container),
                "expensive": isLarge,
            ])
        }
        var scopes = [scope("Locals", "locals", VariableContainer(kind: .locals, call: call))]
        if !stop.stop.stop.upvalues(of: call).isEmpty {
            scopes.append(scope("Upvalues", nil, VariableContainer(kind: .upvalues, call: call)))
        }
        let globals = VariableContainer(kind: .value(.table(host.state.globals)), call: call, expression: "_G")
        scopes.append(scope("Globals", "globals", globals, isLarge: true))
        return .object(["scopes": .array(scopes)])
    }

    /// The call of a request's `frameId`; without one, the innermost call of a script.
    func call(_ arguments: JSONValue, _ stop: DebugStop) throws(DebugError) -> Int {
        guard let frame = arguments["frameId"]?.number else { return stop.stop.stop.innermost }
        return try stop.call(ofFrame: frame)
    }

    // MARK: Sources

    func source(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        guard let reference = arguments["source"]?["sourceReference"]?.number ?? arguments["sourceReference"]?.number
        else { throw DebugError("the source has no number") }
        let chunk = try adapter.sources.chunk(reference)
        guard let text = host.sources.text(where: { $0 == chunk }) else {
            throw DebugError("the text of \(chunk) is not known")
        }
        return .object(["content": .string(text), "mimeType": .string("text/x-lua")])
    }

    func loadedSources() -> JSONValue {
        .of(["sources": host.sources.names.compactMap { adapter.sources.source(of: $0, in: host) }])
    }
}

/// Maps a host's chunks to sources: a file, or a text that the client requests by number.
struct SourceCatalog {
    /// The chunks without a file; a chunk's number is its position, counted from 1.
    private var chunks: [String] = []
    private var paths: NameTable<String?> = [:]

    /// A chunk, named without its mark, as a `Source`.
    mutating func source(of chunk: String, in host: ScriptHost) -> JSONValue? {
        if let path = path(of: chunk) {
            return .object(["name": .string(PathText.name(of: path)), "path": .string(path)])
        }
        guard host.sources.text(where: { $0 == chunk }) != nil else { return nil }
        return .object(["name": .string(chunk), "sourceReference": .number(reference(to: chunk))])
    }

    /// The chunk of a client's `Source`: a path, or a chunk's name.
    func chunk(of source: JSONValue) throws(DebugError) -> String {
        if let reference = source["sourceReference"]?.number, reference > 0 { return try chunk(reference) }
        guard let path = source["path"]?.text ?? source["name"]?.text, !path.isEmpty else {
            throw DebugError("the source has neither a path nor a number")
        }
        return path
    }

    func chunk(_ reference: Int) throws(DebugError) -> String {
        guard chunks.indices.contains(reference &- 1) else { throw DebugError("there is no source \(reference)") }
        return chunks[reference - 1]
    }

    private mutating func reference(to chunk: String) -> Int {
        if let index = chunks.firstIndex(of: chunk) { return index + 1 }
        chunks.append(chunk)
        return chunks.count
    }

    /// The path of a chunk's file, if any.
    private mutating func path(of chunk: String) -> String? {
        if let known = paths[chunk] { return known }
        var path = chunk
        if chunk.hasPrefix("~/"), let home = HomeFolder.path { path = PathText.join(home, String(chunk.dropFirst(2))) }
        path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        let isFile = !chunk.contains("\n") && PosixFileLayer().exists(path)
        paths[chunk] = isFile ? path : .some(nil)
        return isFile ? path : nil
    }
}
