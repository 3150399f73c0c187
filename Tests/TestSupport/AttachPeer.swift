import Foundation
import Glibc

/// The prompt's end of `cubby attach`, a message at a time: for what the program's own prompt does not do.
package final class AttachPeer {
    private let descriptor: Int32
    private var bytes: [UInt8] = []

    /// Connects to the host that runs a program's container, and greets unless told otherwise.
    package init(_ program: some TestProgram, greets: Bool = true) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(program.container)/.socket".utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw TestFailure("the container's path is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        // The kernel lets only some wait for a host that accepts nobody: the call must not.
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw TestFailure("cannot connect: \(String(cString: strerror(errno)))") }
        _ = fcntl(descriptor, F_SETFL, flags)
        // A guard against a host that hangs.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard greets else { return }
        try send("H", Self.hello(key: Self.key(of: program)))
        _ = try expect("B")
    }

    /// The greeting of a prompt on a terminal without colours, or of one that is something else.
    package static func hello(version: Int = 3, key: String, _ more: String = "") -> String {
        """
        {"version":\(version),"key":"\(key)","columns":80,"rows":24,"isTerminal":true,"isPrompt":true\(more.isEmpty ? "" : "," + more)}
        """
    }

    /// The key of a program's user.
    package static func key(of program: some TestProgram) -> String {
        let bytes = (try? program.scratch.read("home/.config/cubby/attach.key")) ?? Data()
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    deinit { close(descriptor) }

    /// Sends a message of one kind.
    package func send(_ kind: Character, _ text: String = "") throws {
        let count = UInt32(text.utf8.count)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
        try send(bytes: [kind.asciiValue ?? 0] + length + text.utf8)
    }

    package func send(bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw TestFailure("the host does not take what is sent") }
            rest = rest.dropFirst(sent)
        }
    }

    /// The next message; nil when the host has closed the connection.
    package func next() throws -> (kind: Character, text: String)? {
        while true {
            if bytes.count >= 5 {
                let count = (0..<4).reduce(0) { $0 | Int(bytes[$1 + 1]) << ($1 * 8) }
                if bytes.count >= 5 + count {
                    let message = (
                        Character(UnicodeScalar(bytes[0])), String(decoding: bytes[5..<(5 + count)], as: UTF8.self)
                    )
                    bytes.removeFirst(5 + count)
                    return message
                }
            }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let got = recv(descriptor, &piece, piece.count, 0)
            if got < 0, errno == EAGAIN { throw TestFailure("the host does not answer") }
            guard got > 0 else { return nil }
            bytes += piece[..<got]
        }
    }

    /// Reads up to a message of a kind.
    ///
    /// - Returns: the texts of all messages up to it, one after the other.
    package func expect(_ kind: Character) throws -> String {
        var text = ""
        while let message = try next() {
            text += message.text
            if message.kind == kind { return text }
        }
        throw TestFailure("the host closed the connection after \(text.suffix(200).debugDescription)")
    }

    /// Reads up to the end of an entry.
    ///
    /// - Returns: what it wrote and gave, and how it ended: `D` well, `F` by an error.
    package func answer() throws -> (text: String, end: Character) {
        var text = ""
        while let message = try next() {
            if message.kind == "D" || message.kind == "F" { return (text, message.kind) }
            text += message.text
        }
        throw TestFailure("the host closed the connection after \(text.suffix(200).debugDescription)")
    }

    /// Runs an entry to its end.
    package func ask(_ entry: String) throws -> (text: String, end: Character) {
        try send("E", entry)
        return try answer()
    }
}
