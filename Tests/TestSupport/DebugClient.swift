import Foundation
import Glibc

/// A client of the Debug Adapter Protocol: sends requests, and keeps the events that arrive meanwhile.
package final class DebugClient {
    package typealias Object = [String: Any]

    private let input: Int32
    private let output: Int32
    private var bytes: [UInt8] = []
    private var sequence = 0
    private var responses: [Int: Object] = [:]
    /// The events that were not waited for yet, oldest first.
    package private(set) var events: [Object] = []
    /// The commands of requests that succeeded.
    package private(set) var succeeded: Set<String> = []
    /// The adapter, if the client has started it.
    package let process: TestProcess?

    /// Uses two descriptors, or one twice; closed by this object.
    package init(input: Int32, output: Int32, process: TestProcess? = nil) {
        (self.input, self.output, self.process) = (input, output, process)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Starts an adapter in this process, connected by its standard streams.
    package convenience init(
        environment: [String: String], directory: String, _ command: @escaping @Sendable () -> Int32
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("no pair of sockets")
        }
        let streams = [ends[1], fcntl(ends[1], F_DUPFD_CLOEXEC, 3), open("/dev/null", O_WRONLY | O_CLOEXEC)]
        let process = TestProcess(streams: streams, environment: environment, directory: directory, command)
        self.init(input: ends[0], output: ends[0], process: process)
    }

    /// Connects to a port of 127.0.0.1.
    package convenience init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            Glibc.close(descriptor)
            throw TestFailure("nobody listens on port \(port)")
        }
        self.init(input: descriptor, output: descriptor)
    }

    /// Connects to a Unix socket.
    package convenience init(socket path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw TestFailure("the path is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            Glibc.close(descriptor)
            throw TestFailure("nobody listens at \(path)")
        }
        self.init(input: descriptor, output: descriptor)
    }

    deinit {
        leave()
        process?.signal(SIGTERM)
        _ = process?.wait(seconds: 20)
    }

    private var isOpen = true

    /// Closes the connection without `disconnect`.
    package func leave() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(input)
        if output != input { Glibc.close(output) }
    }

    // MARK: Messages

    /// Sends a request.
    ///
    /// - Returns: its number.
    @discardableResult
    package func send(_ command: String, _ arguments: Object = [:]) throws -> Int {
        sequence += 1
        let message: Object = ["seq": sequence, "type": "request", "command": command, "arguments": arguments]
        let content = try JSONSerialization.data(withJSONObject: message)
        try send(bytes: Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content)
        return sequence
    }

    package func send(bytes: [UInt8]) throws {
        guard write(output, bytes, bytes.count) == bytes.count else { throw TestFailure("the adapter has gone") }
    }

    /// The response to a request.
    package func response(to number: Int) throws -> Object {
        while responses[number] == nil { try receive() }
        return responses.removeValue(forKey: number) ?? [:]
    }

    /// Sends a request that must succeed, and returns the response's body.
    @discardableResult
    package func ask(_ command: String, _ arguments: Object = [:]) throws -> Object {
        let response = try response(to: send(command, arguments))
        guard response["success"] as? Bool == true else {
            throw TestFailure("\(command): \(response["message"] ?? "no reason")")
        }
        return response["body"] as? Object ?? [:]
    }

    /// Sends a request that must be refused.
    ///
    /// - Returns: the reason.
    package func refusal(_ command: String, _ arguments: Object = [:]) throws -> String {
        let response = try response(to: send(command, arguments))
        guard response["success"] as? Bool == false else { throw TestFailure("\(command) was done") }
        return response["message"] as? String ?? ""
    }

    /// The body of the next event of a name.
    @discardableResult
    package func wait(for name: String) throws -> Object {
        while true {
            if let index = events.firstIndex(where: { $0["event"] as? String == name }) {
                return events.remove(at: index)["body"] as? Object ?? [:]
            }
            try receive()
        }
    }

    /// Reads until the adapter ends the connection.
    package func waitForEnd() throws {
        do { while true { try receive() } } catch is EndOfConnection {}
    }

    private struct EndOfConnection: Error {}

    private func receive() throws {
        while true {
            if let message = try next() {
                if let number = message["request_seq"] as? Int {
                    responses[number] = message
                    if message["success"] as? Bool == true { succeeded.insert(message["command"] as? String ?? "") }
                } else {
                    events.append(message)
                }
                return
            }
            var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Int32(30_000 * Project.patience)) > 0 else {
                throw TestFailure("no message from the adapter; events: \(events)")
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(input, &buffer, buffer.count)
            guard count > 0 else { throw EndOfConnection() }
            bytes += buffer[..<count]
        }
    }

    private func next() throws -> Object? {
        let data = Data(bytes)
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let header = String(decoding: data[..<end.lowerBound], as: UTF8.self)
        guard header.hasPrefix("Content-Length: "), let count = Int(header.dropFirst(16)) else {
            throw TestFailure("no header: \(header)")
        }
        guard data.count - end.upperBound >= count else { return nil }
        let content = data[end.upperBound..<end.upperBound + count]
        bytes.removeFirst(end.upperBound + count)
        guard let message = try JSONSerialization.jsonObject(with: content) as? Object else {
            throw TestFailure("no object: \(String(decoding: content, as: UTF8.self))")
        }
        return message
    }
}

extension DebugClient {
    /// Initializes the adapter, launches or attaches, sets breakpoints, and ends the configuration.
    ///
    /// - Returns: the lines of the breakpoints, as the adapter has set them.
    @discardableResult
    package func begin(
        _ request: String = "launch", _ arguments: Object = [:], breakpoints: [Object] = [], in path: String = "",
        filters: [String] = []
    ) throws -> [Int] {
        try ask("initialize", ["adapterID": "cubby", "linesStartAt1": true, "pathFormat": "path"])
        let launch = try send(request, arguments)
        try wait(for: "initialized")
        var lines: [Int] = []
        if !breakpoints.isEmpty {
            let set = try ask("setBreakpoints", ["source": ["path": path], "breakpoints": breakpoints])
            lines = (set["breakpoints"] as? [Object] ?? []).map { $0["line"] as? Int ?? 0 }
        }
        try ask("setExceptionBreakpoints", ["filters": filters])
        try ask("configurationDone")
        guard try response(to: launch)["success"] as? Bool == true else { throw TestFailure("\(request) was refused") }
        return lines
    }

    /// Waits for a break.
    ///
    /// - Returns: its reason and the innermost frame.
    package func stopped() throws -> (reason: String, frame: Object) {
        let reason = try wait(for: "stopped")["reason"] as? String ?? ""
        let frames = try ask("stackTrace", ["threadId": 1])["stackFrames"] as? [Object] ?? []
        return (reason, frames.first { ($0["line"] as? Int ?? 0) > 0 } ?? [:])
    }

    /// The variables of a reference, by name.
    package func variables(_ reference: Any?, _ more: Object = [:]) throws -> [String: Object] {
        let found =
            try ask(
                "variables", ["variablesReference": reference ?? 0].merging(more) { $1 })["variables"] as? [Object]
        return Dictionary((found ?? []).map { ($0["name"] as? String ?? "", $0) }) { first, _ in first }
    }

    /// The variables of a scope of a frame.
    package func scope(_ name: String, of frame: Object) throws -> (reference: Any?, variables: [String: Object]) {
        let scopes = try ask("scopes", ["frameId": frame["id"] ?? 0])["scopes"] as? [Object] ?? []
        let reference = scopes.first { $0["name"] as? String == name }?["variablesReference"]
        return (reference, try variables(reference))
    }

    /// The value of an expression in a frame.
    package func evaluate(_ text: String, _ frame: Object = [:], context: String = "repl") throws -> String? {
        var arguments: Object = ["expression": text, "context": context]
        arguments["frameId"] = frame["id"]
        return try ask("evaluate", arguments)["result"] as? String
    }
}
