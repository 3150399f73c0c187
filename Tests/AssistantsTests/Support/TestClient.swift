import Application
import ColumnEngine
import Cubby
import Foundation
import PropertyList
import Scripting
import TestSupport

@testable import Assistants

/// A client of a server in this process, whose calls a starter of the test takes.
final class TestClient {
    let loop: EventLoop
    let scratch: TemporaryDirectory
    let server: AssistantServer
    private let lines: Lines

    private final class Lines { var bytes: [UInt8] = [] }

    init(_ starter: @escaping AssistantServer.Starter, allowsChanges: Bool = false) throws {
        loop = try EventLoop()
        scratch = try TemporaryDirectory()
        let lines = Lines()
        self.lines = lines
        let audit = try AuditFile(in: scratch.file("config"), container: "/c")
        server = AssistantServer(loop, audit: audit, allowsChanges: allowsChanges, starter: starter)
        server.send = { lines.bytes += $0 }
    }

    /// The lines of the record.
    func record() throws -> [JSONValue] {
        try scratch.read("config/assistants.log").split(separator: 0x0A).map { try JSONValue(json: Array($0)) }
    }

    /// Sends text, and takes what was answered at once.
    @discardableResult
    func send(_ text: String) throws -> [JSONValue] {
        server.receive(Array(text.utf8)[...])
        return try take()
    }

    /// Sends a message, and takes its answer, for which it waits.
    func ask(_ message: JSONValue) throws -> JSONValue {
        let early = try send(String(decoding: try message.json(), as: UTF8.self) + "\n")
        if let answer = early.first { return answer }
        loop.run(until: { !lines.bytes.isEmpty })
        guard let answer = try take().last else { throw TestFailure("no answer") }
        return answer
    }

    private func take() throws -> [JSONValue] {
        defer { lines.bytes = [] }
        return try lines.bytes.split(separator: 0x0A).map { try JSONValue(json: Array($0)) }
    }

    private var number = 0

    func request(_ method: String, _ parameters: JSONValue = .object([:])) throws -> JSONValue {
        number += 1
        return try ask(
            .object([
                "jsonrpc": .string("2.0"), "id": .number(number), "method": .string(method), "params": parameters,
            ]))
    }

    /// Begins a session by the handshake.
    func begin() throws {
        _ = try request("initialize", .object(["protocolVersion": .string("2025-11-25")]))
    }

    /// The result of a tool.
    func call(_ tool: String, _ arguments: KeyValuePairs<String, JSONValue?> = [:]) throws -> JSONValue {
        let answer = try request("tools/call", .object(["name": .string(tool), "arguments": .object(arguments)]))
        guard let result = answer["result"] else { throw TestFailure("\(answer)") }
        return result
    }
}

extension JSONValue {
    /// The texts of a tool's result.
    var words: [String] { self["content"]?.elements?.compactMap { $0["text"]?.text } ?? [] }
    var code: Int? { self["error"]?["code"]?.number }
    var data: JSONValue { self["structuredContent"] ?? .null }
}

/// Takes calls, and answers when the test says so.
final class PendingCalls {
    private(set) var calls: [(call: JSONValue, isChanging: Bool, completion: (JSONValue) -> Void)] = []
    private(set) var cancelled = 0

    func start(_ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void) -> () -> Void {
        calls.append((call, isChanging, completion))
        return { self.cancelled += 1 }
    }
}

/// Performs calls on hosts of this process: a new one for each dry run, as their processes have, and one for changes.
final class HostCalls {
    let container: String
    private var host: ScriptHost?

    init(_ container: String) { self.container = container }

    func start(_ call: JSONValue, isChanging: Bool, completion: @escaping (JSONValue) -> Void) -> () -> Void {
        do { completion(try perform(call, isChanging: isChanging)) } catch {
            completion(AssistantText.failure("\(error)"))
        }
        return {}
    }

    private func perform(_ call: JSONValue, isChanging: Bool) throws -> JSONValue {
        let host =
            try isChanging
            ? changing()
            : open { options in
                options.isReadOnly = true
                options.persistence = { ScratchPersistence(ArchivePersistence(of: $0)) }
            }
        let output = CapturedOutput()
        host.frontEnd = output
        let json = LuaValue.string(LuaString(try call.json()))
        _ = try host.run(ToolWork.function(on: host), [json]).get()
        guard let answer = ToolWork.answer(to: call, in: output.bytes) else { throw TestFailure("no answer") }
        return answer
    }

    private func changing() throws -> ScriptHost {
        if let host { return host }
        let host = try open { _ in }
        self.host = host
        return host
    }

    func open(_ change: (inout ScriptHostOptions) -> Void) throws -> ScriptHost {
        var options = ScriptHostOptions(container: ApplicationContainer(path: container))
        (options.handlesSignals, options.runsInitScript, options.outputLimit) = (false, false, 1 << 20)
        options.memoryLimit = 64 << 20
        change(&options)
        return try ScriptHost(options)
    }
}

private final class CapturedOutput: HostFrontEnd {
    var bytes: [UInt8] = []
    var isTerminal: Bool { false }

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        self.bytes += bytes
        return true
    }
}
