package import Application
package import PropertyList
import Scripting
import Wording

/// Starts the calls of tools.
package protocol CallStarter: AnyObject {
    /// - Parameters:
    ///   - call: the tool and its checked arguments.
    ///   - isChanging: whether it may change items.
    ///   - completion: called once with the answer, unless the call is cancelled.
    /// - Returns: a function that cancels the call.
    func start(_ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void) -> () -> Void
}

/// A server of the Model Context Protocol for one client: its messages come in as bytes, and lines of JSON go out.
///
/// The client's first request decides the revision: `initialize` begins a session of 2025-11-25; the requests of 2026-07-28
/// carry their version.
package final class AssistantServer {
    private static let (handshake, stateless) = ("2025-11-25", "2026-07-28")
    /// The numbers of calls that run, and that wait.
    private static let (running, waiting) = (4, 64)
    /// The bytes of the longest id and of the longest name of a client: both are in the record of each call.
    private static let longestName = 200
    /// Seconds after which a call is stopped, whatever its own limit is.
    package static let patience = Duration.seconds(120)

    private final class Call {
        let (id, message, parameters): (JSONValue, JSONValue, JSONValue)
        let start = MonotonicTime.now()
        var cancel: (() -> Void)?
        var timer: LoopTimer?

        init(_ id: JSONValue, _ message: JSONValue, _ parameters: JSONValue) {
            (self.id, self.message, self.parameters) = (id, message, parameters)
        }

        var tool: String { message["tool"]?.text ?? "" }
        var isChanging: Bool { ToolCatalog.isChanging(tool, message["arguments"]) }
        /// Seconds since it has come.
        var age: Double { MonotonicTime.now().seconds(since: start) }
    }

    private let loop: EventLoop
    private let starter: any CallStarter
    private let audit: AuditFile
    private let allowsChanges: Bool
    private let send: ([UInt8]) -> Void
    private var decoder = LineDecoder()
    private var version: String?
    private var client = ""
    private var calls: [Call] = []

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - starter: starts the calls.
    ///   - audit: has a line for the beginning and the end of each call.
    ///   - allowsChanges: whether `run` may keep what it changes.
    ///   - send: takes bytes for the client.
    package init(
        _ loop: EventLoop, _ starter: any CallStarter, audit: AuditFile, allowsChanges: Bool,
        send: @escaping ([UInt8]) -> Void
    ) {
        (self.loop, self.starter, self.audit, self.allowsChanges) = (loop, starter, audit, allowsChanges)
        self.send = send
    }

    /// Whether no call is under way.
    package var isIdle: Bool { calls.isEmpty }

    /// Takes bytes of the client.
    package func receive(_ bytes: ArraySlice<UInt8>) {
        for line in decoder.lines(with: bytes) { take(line) }
    }

    /// The client is gone: its calls are stopped.
    package func end() {
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
            if message["result"] != nil, let id = message["id"] { deny(id, Denial(.inside, error.message)) }
        }
    }

    private func deny(_ id: JSONValue, _ denial: Denial) {
        let (code, text) = (denial.code.rawValue, denial.description)
        write(["id": id, "error": JSONValue.of(["code": code, "message": text, "data": denial.data])])
    }

    /// Takes a line; nil for one that is too long.
    private func take(_ line: [UInt8]?) {
        guard line?.allSatisfy({ $0 <= 0x20 }) != true else { return }
        var id = JSONValue.null
        do throws(Denial) {
            guard let line else { throw Denial(.parse, "a line is longer than \(LineDecoder.limit >> 20) MB") }
            let message: JSONValue
            do throws(JSONError) { message = try JSONValue(json: line) } catch {
                throw Denial(.parse, "a line is not JSON: \(error.message)")
            }
            guard let fields = message.fields else { throw Denial(.request, "a message is one object, not a batch") }
            guard message["jsonrpc"]?.text == "2.0" else { throw Denial(.request, "\"jsonrpc\": \"2.0\" is missing") }
            guard let method = message["method"]?.text else {
                // An answer, to a question that was not put, is ignored.
                if fields["result"] != nil || fields["error"] != nil { return }
                throw Denial(.request, "a message has a method")
            }
            let parameters = message["params"] ?? .object([:])
            guard let given = fields["id"] else { return notified(method, parameters) }
            guard given.text != nil || given.number != nil else {
                throw Denial(.request, "an id is a string or an integer")
            }
            guard (given.text?.utf8.count ?? 0) <= Self.longestName else {
                throw Denial(.request, "an id has at most \(Self.longestName.grouped) bytes")
            }
            if calls.contains(where: { $0.id == given }) { throw Denial(.request, "a call with this id is under way") }
            id = given
            guard parameters.fields != nil else { throw Denial(.parameters, "params is an object") }
            try admit(method, parameters)
            if let result = try perform(id, method, parameters) {
                answer(id, result, isCached: method != "tools/call")
            }
        } catch { deny(id, error) }
    }

    private func notified(_ method: String, _ parameters: JSONValue) {
        guard method == "notifications/cancelled", let id = parameters["requestId"] else { return }
        if let call = calls.first(where: { $0.id == id }) { finish(call, "cancelled") }
    }

    /// Decides the revision by the first request, and keeps the client to it.
    private func admit(_ method: String, _ parameters: JSONValue) throws(Denial) {
        let meta = parameters["_meta"]
        let claimed = meta?["io.modelcontextprotocol/protocolVersion"]
        let isBeginning = method == "initialize"
        if version == Self.handshake {
            if claimed != nil { throw Denial(.request, "this client has begun with initialize: \(Self.handshake)") }
            if isBeginning { throw Denial(.request, "the client is initialized already") }
        } else if isBeginning {
            if version != nil { throw unsupported(parameters["protocolVersion"]) }
        } else if let claimed {
            guard let text = claimed.text else { throw Denial(.parameters, "a version is a string") }
            guard text == Self.stateless else { throw unsupported(claimed) }
            guard meta?["io.modelcontextprotocol/clientCapabilities"]?.fields != nil else {
                throw Denial(.parameters, "_meta has no io.modelcontextprotocol/clientCapabilities")
            }
            version = Self.stateless
            client = Self.name(meta?["io.modelcontextprotocol/clientInfo"]) ?? client
        } else if version != nil || method != "ping" {
            throw Denial(
                version == nil ? .request : .parameters,
                "initialize comes first, or _meta with io.modelcontextprotocol/protocolVersion \(Self.stateless)")
        }
    }

    /// The name of a client, which each line of the record has.
    private static func name(_ information: JSONValue?) -> String? {
        information?["name"]?.text?.shortened(to: longestName)
    }

    private func unsupported(_ requested: JSONValue?) -> Denial {
        var denial = Denial(.version, "this version of the protocol is not served")
        denial.data = .of(["supported": [Self.stateless], "requested": requested ?? .string("")])
        return denial
    }

    /// Sends a result, with what the revision adds to it.
    private func answer(_ id: JSONValue, _ result: JSONValue, isCached: Bool) {
        var result = result
        if version == Self.stateless {
            result["resultType"] = .string("complete")
            result["_meta"] = .of(["io.modelcontextprotocol/serverInfo": Self.information])
            if isCached { (result["ttlMs"], result["cacheScope"]) = (.number(0), .string("private")) }
        }
        write(["id": id, "result": result])
    }

    // MARK: Methods

    private static let information = JSONValue.of([
        "name": "cubby", "title": "Cubby", "version": CubbyVersion.string,
    ])

    /// What both revisions say of the server at first.
    private var introduction: JSONValue {
        let denial = allowsChanges ? "" : ", which is refused here"
        return .of([
            "capabilities": JSONValue.of(["tools": JSONValue.object([:]), "resources": JSONValue.object([:])]),
            "instructions":
                "The items of a Cubby container, by Lua, predicates and SQL. describe{} shows the fields, describe{name} the functions. run is a dry run unless dry_run is false\(denial). \(AssistantText.warning)",
        ])
    }

    private static let templates = ["reference/{page}", "item/{itemKey}", "picture/{itemKey}"].map { template in
        JSONValue.of(["uriTemplate": "cubby://" + template, "name": template])
    }

    /// - Returns: the result; nil if it follows later.
    private func perform(_ id: JSONValue, _ method: String, _ parameters: JSONValue) throws(Denial) -> JSONValue? {
        var introduction = introduction
        switch method {
        case "initialize":
            guard parameters["protocolVersion"]?.text != nil else {
                throw Denial(.parameters, "protocolVersion is a string")
            }
            (version, client) = (Self.handshake, Self.name(parameters["clientInfo"]) ?? "")
            introduction["protocolVersion"] = .string(Self.handshake)
            introduction["serverInfo"] = Self.information
            return introduction
        case "server/discover" where version == Self.stateless:
            introduction["supportedVersions"] = .array([.string(Self.stateless)])
            return introduction
        case "ping" where version != Self.stateless: return .object([:])
        case "tools/list": return .of(["tools": ToolCatalog.tools(allowsChanges: allowsChanges)])
        case "resources/templates/list": return .of(["resourceTemplates": Self.templates])
        case "resources/list", "resources/read":
            let name = method == "resources/list" ? "cursor" : "uri"
            guard parameters[name] == nil ? name == "cursor" : parameters[name]?.text != nil else {
                throw Denial(.parameters, "\(name) is a string")
            }
            try add(id, method, .of([name: parameters[name]]), parameters)
        case "tools/call":
            let tool = parameters["name"]?.text ?? ""
            guard let given = (parameters["arguments"] ?? .object([:])).fields else {
                throw Denial(.parameters, "arguments is an object")
            }
            let arguments: JSONValue
            do throws(Denial) {
                arguments = try ToolCatalog.arguments(of: tool, given, allowsChanges: allowsChanges)
            } catch {
                guard error.code == .tool else { throw error }
                audit.record(["event": "refused", "id": id, "tool": tool, "reason": error.description])
                return AssistantText.result(AssistantText.failure(error.description))
            }
            try add(id, tool, arguments, parameters)
        default: throw Denial(.method, "there is no method \(VisibleText.line(method.shortened(to: 100)))")
        }
        return nil
    }

    // MARK: Calls

    private func add(
        _ id: JSONValue, _ tool: String, _ arguments: JSONValue, _ parameters: JSONValue
    ) throws(Denial) {
        guard calls.count < Self.running + Self.waiting else {
            throw Denial(.busy, "\(calls.count) calls are under way: wait for their answers")
        }
        let message = JSONValue.of(["tool": tool, "arguments": arguments, "mark": AccessKey.random().text])
        calls.append(Call(id, message, parameters))
        startNext()
    }

    private func startNext() {
        while true {
            let running = calls.filter { $0.cancel != nil }
            // Changes follow one another: each is a transaction of the one host.
            let isChanging = running.contains { $0.isChanging }
            let next = calls.first { $0.cancel == nil && !($0.isChanging && isChanging) }
            guard running.count < Self.running, let next else { return }
            start(next)
        }
    }

    private func start(_ call: Call) {
        call.cancel = {}
        let isRecorded = audit.record([
            "event": "call", "client": client, "id": call.id, "tool": call.tool, "changes": call.isChanging,
            "arguments": call.message["arguments"],
        ])
        guard isRecorded else {
            return end(call, AssistantText.failure("the call is refused: it cannot be recorded in \(audit.path)"))
        }
        let (start, patience) = (call.age, Self.patience.components.seconds)
        let token = call.parameters["_meta"]?["progressToken"]
        call.timer = loop.every(1) { [unowned self] in
            guard call.age - start < Double(patience) else {
                return end(
                    call, AssistantText.failure("there was no answer in \(patience) s, and the call is stopped"))
            }
            guard let token, token.text != nil || token.number != nil else { return }
            let progress = JSONValue.of(["progressToken": token, "progress": call.age])
            write(["method": "notifications/progress", "params": progress])
        }
        call.cancel = starter.start(call.message, isChanging: call.isChanging) { [weak self] in self?.end(call, $0) }
    }

    /// Answers a call.
    private func end(_ call: Call, _ answer: JSONValue) {
        guard calls.contains(where: { $0 === call }) else { return }
        if !call.tool.hasPrefix("resources/") {
            self.answer(call.id, AssistantText.result(answer), isCached: false)
        } else if let result = answer["result"] {
            self.answer(call.id, result, isCached: true)
        } else {
            let isRead = version == Self.handshake && call.tool == "resources/read"
            let code: Denial.Code = answer["invalid"] == nil ? .inside : isRead ? .resource : .parameters
            let text = (answer["invalid"] ?? answer["data"]?["error"] ?? answer["summary"])?.text
            deny(call.id, Denial(code, text ?? "the call failed, and does not say why"))
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
