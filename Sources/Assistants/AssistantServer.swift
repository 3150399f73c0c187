package import Application
package import PropertyList
import Scripting

/// A server of the Model Context Protocol for one client: its messages come in as bytes, and lines of JSON go out.
///
/// The client's first request decides the revision: `initialize` begins a session of 2025-11-25; the requests of 2026-07-28
/// carry their version.
package final class AssistantServer {
    /// Starts a call, a tool and its checked arguments, that may change items or not.
    ///
    /// It calls the completion with the answer, after which further ones are ignored, and returns a function that cancels the
    /// call.
    package typealias Starter = (
        _ call: JSONValue, _ isChanging: Bool, _ completion: @escaping (JSONValue) -> Void
    ) -> () -> Void

    private static let handshake = "2025-11-25"
    private static let stateless = "2026-07-28"
    /// The largest length of a line in bytes.
    private static let lineLimit = 4 << 20
    /// The numbers of calls that run at a time, and that wait.
    private static let limits = (running: 4, waiting: 64)
    /// The bytes of the longest id and of the longest name of a client: both are in the record of each call.
    private static let longestName = 200
    /// Seconds after which a call is stopped, whatever its own limit is.
    package static let patience = Duration.seconds(120)

    private final class Call {
        let id: JSONValue
        /// The tool and its arguments.
        let message: JSONValue
        let arrival = MonotonicTime.now()
        /// Stops it; nil while it waits.
        var cancel: (() -> Void)?
        var timer: LoopTimer?

        init(_ id: JSONValue, _ message: JSONValue) { (self.id, self.message) = (id, message) }

        var tool: String { message["tool"]?.text ?? "" }
        var isChanging: Bool { ToolCatalog.isChanging(tool, message["arguments"]) }
        /// Seconds since it has come.
        var age: Double { MonotonicTime.now().seconds(since: arrival) }
    }

    private let loop: EventLoop
    private let audit: AuditFile
    private let allowsChanges: Bool
    private let starter: Starter
    /// Takes bytes for the client.
    var send: ([UInt8]) -> Void = { _ in }
    /// The line that is not complete. One that is too long is cut: its memory is bounded.
    private var line: [UInt8] = []
    private var version: String?
    private var client = ""
    private var calls: [Call] = []

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - audit: has a line for the beginning and the end of each call.
    ///   - allowsChanges: whether `run` may keep what it changes.
    ///   - starter: starts the calls.
    package init(_ loop: EventLoop, audit: AuditFile, allowsChanges: Bool, starter: @escaping Starter) {
        (self.loop, self.audit, self.allowsChanges, self.starter) = (loop, audit, allowsChanges, starter)
    }

    /// Serves the client of two streams until it has left. One that only ends its requests still gets their answers.
    ///
    /// - Parameters:
    ///   - input: has its requests.
    ///   - output: takes the answers.
    package func serve(_ input: StreamDescriptor, _ output: OutputQueue) {
        var hasLeft = false
        send = { output.send($0) }
        var requests: LoopWatch?
        requests = loop.watch(input.descriptor) { [unowned self] _ in
            let bytes = input.read()
            if bytes.isEmpty { requests?.cancel() } else { receive(bytes[...]) }
        }
        // An event that a stream never has: only its end is reported.
        loop.watch(output.stream.descriptor, for: .priority) { _ in hasLeft = true }
        // A client that leaves too much unread is gone.
        loop.run(until: {
            hasLeft || output.isBroken || output.count > 64 << 20
                || requests?.isCancelled == true && isIdle && output.isEmpty
        })
        end()
    }

    /// Whether no call is under way.
    var isIdle: Bool { calls.isEmpty }

    /// Takes bytes of the client.
    func receive(_ bytes: ArraySlice<UInt8>) {
        for (place, piece) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if place > 0 {
                take(line)
                line = []
            }
            line += piece.prefix(Self.lineLimit + 1 - line.count)
        }
    }

    /// The client is gone: its calls are stopped.
    func end() {
        // Those that wait are not begun for nobody.
        calls.removeAll { $0.cancel == nil }
        for call in calls { finish(call, "the client has left") }
    }

    // MARK: Messages

    private func write(_ fields: KeyValuePairs<String, (any JSONConvertible)?>) {
        var message = JSONValue.of(fields)
        message["jsonrpc"] = .string("2.0")
        do throws(JSONError) { send(try message.json() + [0x0A]) } catch {
            // A value that JSON lacks: the client must not wait for an answer that never comes.
            if message["result"] != nil, let id = message["id"] { deny(id, Denial(error.message, .inside)) }
        }
    }

    private func deny(_ id: JSONValue, _ denial: Denial) {
        let error = JSONValue.of(["code": denial.code.rawValue, "message": denial.description, "data": denial.data])
        write(["id": id, "error": error])
    }

    /// Sends a result, with what the revision adds to it.
    private func answer(_ id: JSONValue, _ result: JSONValue) {
        var result = result
        if version == Self.stateless {
            result["resultType"] = .string("complete")
            result["_meta"] = .of(["io.modelcontextprotocol/serverInfo": Self.information])
            // What a tool gives is not cached.
            if result["content"] == nil { (result["ttlMs"], result["cacheScope"]) = (.number(0), .string("private")) }
        }
        write(["id": id, "result": result])
    }

    private func take(_ line: [UInt8]) {
        if line.allSatisfy({ $0 <= 0x20 }) { return }
        var (id, tool) = (JSONValue.null, JSONValue?.none)
        do throws(Denial) {
            if line.count > Self.lineLimit { throw Denial("a line is longer than \(Self.lineLimit >> 20) MB", .parse) }
            let message: JSONValue
            do throws(JSONError) { message = try JSONValue(json: line) } catch {
                throw Denial("a line is not JSON: \(error.message)", .parse)
            }
            guard let fields = message.fields, message["jsonrpc"]?.text == "2.0" else {
                throw Denial("a message is one object with \"jsonrpc\": \"2.0\", not a batch", .request)
            }
            guard let method = message["method"]?.text else {
                // An answer, to a question that was not put, is ignored.
                if fields["result"] != nil || fields["error"] != nil { return }
                throw Denial("a message has a method", .request)
            }
            let parameters = message["params"] ?? .object([:])
            guard let given = fields["id"] else {
                let cancelled = method == "notifications/cancelled" ? parameters["requestId"] : nil
                return calls.filter { $0.id == cancelled }.forEach { finish($0, "cancelled") }
            }
            guard given.number != nil || given.text.map({ $0.utf8.count <= Self.longestName }) == true else {
                throw Denial("an id is an integer, or a string of at most \(Self.longestName) bytes", .request)
            }
            if calls.contains(where: { $0.id == given }) { throw Denial("a call with this id is under way", .request) }
            (id, tool) = (given, parameters["name"])
            guard parameters.fields != nil else { throw Denial("params is an object", .parameters) }
            try admit(method, parameters)
            try perform(id, method, parameters)
        } catch {
            guard error.code == .tool else { return deny(id, error) }
            audit.record(["event": "refused", "id": id, "tool": tool, "reason": error.description])
            answer(id, AssistantText.result(AssistantText.failure(error.description)))
        }
    }

    /// Decides the revision by the first request, and keeps the client to it.
    private func admit(_ method: String, _ parameters: JSONValue) throws(Denial) {
        let isGreeting = method == "initialize"
        let meta = parameters["_meta"]
        let claimed = meta?["io.modelcontextprotocol/protocolVersion"]
        if version == Self.handshake {
            guard claimed == nil, !isGreeting else {
                throw Denial("this client has begun with initialize already: \(Self.handshake)", .request)
            }
        } else if isGreeting ? version != nil : claimed?.text.map({ $0 != Self.stateless }) == true {
            let requested = (isGreeting ? parameters["protocolVersion"] : claimed) ?? .string("")
            let versions = JSONValue.of(["supported": [Self.stateless], "requested": requested])
            throw Denial("this version of the protocol is not served", .version, data: versions)
        } else if claimed != nil {
            // What comes with each request of this revision is declared and checked as the parameters of a method are.
            _ = try ToolCatalog.method("_meta", in: "_meta", meta ?? .null)
            version = Self.stateless
        } else if !isGreeting, version != nil || method != "ping" {
            throw Denial(
                "initialize comes first, or _meta with io.modelcontextprotocol/protocolVersion \(Self.stateless)",
                version == nil ? .request : .parameters)
        }
        let information = isGreeting ? parameters["clientInfo"] : meta?["io.modelcontextprotocol/clientInfo"]
        client = information?["name"]?.text?.shortened(to: Self.longestName) ?? client
    }

    // MARK: Methods

    private static let information = JSONValue.of(["name": "cubby", "title": "Cubby", "version": CubbyVersion.string])

    /// Answers a request now, or adds a call, whose answer follows.
    private func perform(_ id: JSONValue, _ method: String, _ parameters: JSONValue) throws(Denial) {
        var (given, result) = try ToolCatalog.method(method, in: version ?? Self.handshake, parameters)
        var tool = method
        switch method {
        case "initialize":
            version = Self.handshake
            result?["serverInfo"] = Self.information
        case "tools/list": result?["tools"] = .array(ToolCatalog.tools(allowsChanges: allowsChanges))
        case "tools/call":
            tool = given["name"]?.text ?? ""
            given = try ToolCatalog.arguments(of: tool, given["arguments"], allowsChanges: allowsChanges)
        default: break
        }
        if let result { return answer(id, result) }
        guard calls.count < Self.limits.running + Self.limits.waiting else {
            throw Denial("\(calls.count) calls are under way: wait for their answers", .busy)
        }
        let token = parameters["_meta"]?["progressToken"]
        let mark = AccessKey.random().text
        calls.append(Call(id, .of(["tool": tool, "arguments": given, "mark": mark, "progressToken": token])))
        startNext()
    }

    // MARK: Calls

    private func startNext() {
        while true {
            let running = calls.filter { $0.cancel != nil }
            // Changes follow one another: each is a transaction of the one host.
            let isChanging = running.contains { $0.isChanging }
            let next = calls.first { $0.cancel == nil && !($0.isChanging && isChanging) }
            guard running.count < Self.limits.running, let next else { return }
            start(next)
        }
    }

    private func start(_ call: Call) {
        call.cancel = {}
        guard
            audit.record([
                "event": "call", "client": client, "id": call.id, "tool": call.tool, "changes": call.isChanging,
                "arguments": call.message["arguments"],
            ])
        else { return end(call, AssistantText.failure("the call is refused: it cannot be recorded in \(audit.path)")) }
        let (start, patience) = (call.age, Self.patience.components.seconds)
        call.timer = loop.every(1) { [unowned self] in
            guard call.age - start < Double(patience) else {
                return end(call, AssistantText.failure("there was no answer in \(patience) s: the call is stopped"))
            }
            guard let token = call.message["progressToken"] else { return }
            let progress = JSONValue.of(["progressToken": token, "progress": call.age])
            write(["method": "notifications/progress", "params": progress])
        }
        call.cancel = starter(call.message, call.isChanging) { [weak self] in self?.end(call, $0) }
    }

    /// Answers a call.
    private func end(_ call: Call, _ answer: JSONValue) {
        guard calls.contains(where: { $0 === call }) else { return }
        if let result = call.tool.hasPrefix("resources/") ? answer["result"] : AssistantText.result(answer) {
            self.answer(call.id, result)
        } else {
            var code = answer["code"]?.number.flatMap(Denial.Code.init) ?? .inside
            if code == .resource, version == Self.stateless { code = .parameters }
            let text = (answer["data"]?["error"] ?? answer["summary"])?.text
            deny(call.id, Denial(text ?? "the call failed, and does not say why", code))
        }
        let outcome = answer["isError"]?.flag == true ? "failed" : "done"
        finish(call, outcome, answer["data"]?["changes"]?["counts"])
    }

    /// Removes a call, stops it if it goes on, and starts those that wait.
    private func finish(_ call: Call, _ outcome: String, _ counts: JSONValue? = nil) {
        calls.removeAll { $0 === call }
        call.timer?.cancel()
        // One that waits has not begun.
        guard let cancel = call.cancel else { return }
        cancel()
        audit.record(["event": "end", "id": call.id, "outcome": outcome, "changes": counts, "seconds": call.age])
        startNext()
    }
}
