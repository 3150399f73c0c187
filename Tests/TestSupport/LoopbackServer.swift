import Glibc
import Synchronization

/// A request that a server of a test has received.
package struct LoopbackRequest: Sendable {
    package var line = ""
    /// By names in small letters.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []
}

/// A server on the loopback interface, which does what a test says with each request.
///
/// Each connection has a thread, and is closed after one request. A test stops it before its end.
package final class LoopbackServer: Sendable {
    /// Answers a request; false closes the connection at once.
    package typealias Answer = @Sendable (_ request: LoopbackRequest, _ client: Int32) -> Void

    package let port: Int
    private let descriptor: Int32
    private let received = Mutex<[LoopbackRequest]>([])

    /// What came so far, in order.
    package var requests: [LoopbackRequest] { received.withLock { $0 } }
    package var address: String { "http://127.0.0.1:\(port)" }

    /// - Throws: `TestFailure` when there is no port.
    package init(_ answer: @escaping Answer) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listening, generic, size) == 0 && listen(listening, 512) == 0
                    && getsockname(listening, generic, &size) == 0
            }
        }
        guard isBound else { throw TestFailure("no port on the loopback interface: \(errno)") }
        port = Int(UInt16(bigEndian: address.sin_port))
        descriptor = listening
        Self.detach { [self] in
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0 else { return }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                Self.detach { [self] in
                    defer { close(client) }
                    guard let request = Self.read(client) else { return }
                    received.withLock { $0.append(request) }
                    answer(request, client)
                }
            }
        }
    }

    /// Ends it: its thread goes when nobody is accepted any more.
    package func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Sends an answer as a whole.
    package static func send(
        _ body: String, status: String = "200 OK", headers: [String] = [], to client: Int32
    ) {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        write(head.joined(separator: "\r\n") + "\r\n\r\n" + body, to: client)
    }

    /// Sends bytes.
    ///
    /// - Returns: whether the client has taken them.
    @discardableResult
    package static func write(_ text: String, to client: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Waits until the client closes the connection.
    package static func waitForEnd(of client: Int32) {
        var byte: UInt8 = 0
        while recv(client, &byte, 1, 0) > 0 {}
    }

    private static func read(_ client: Int32) -> LoopbackRequest? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        func more() -> Bool {
            let count = recv(client, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        let mark = Array("\r\n\r\n".utf8)
        func headEnd() -> Int? {
            bytes.count < 4 ? nil : (0...bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual(mark) }
        }
        while headEnd() == nil { guard more() else { return nil } }
        guard let end = headEnd() else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        var request = LoopbackRequest(line: lines.first.map(String.init) ?? "")
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            request.headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let length = Int(request.headers["content-length"] ?? "") ?? 0
        while bytes.count < end + 4 + length { guard more() else { return nil } }
        request.body = Array(bytes[(end + 4)...])
        return request
    }

    private static func detach(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(LoopbackWork(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<LoopbackWork>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if code == 0 { pthread_detach(thread) } else { box.release() }
    }
}

private final class LoopbackWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
