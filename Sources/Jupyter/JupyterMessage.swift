import Files
package import PropertyList
@_exported import Wording

/// A message of a front end.
package struct JupyterMessage: Sendable {
    /// The socket that it came through.
    package let channel: JupyterConnection.Channel
    /// The frames that lead the way back to its front end.
    package let identities: [[UInt8]]
    /// Its header as it came: the parent of the answers.
    package let header: [UInt8]
    package let type: String
    package let content: PropertyListValue
    /// Its number among those that have arrived.
    package internal(set) var number = 0

    /// - Parameters:
    ///   - channel: the socket.
    ///   - frames: as received.
    ///   - key: of its signature.
    /// - Throws: `JupyterError` for a message that is malformed or not signed with the key: it must not be obeyed.
    package init(
        _ channel: JupyterConnection.Channel, _ frames: [[UInt8]], key: [UInt8]
    ) throws(JupyterError) {
        guard let mark = frames.firstIndex(of: JupyterFrames.delimiter), frames.count >= mark + 6 else {
            throw JupyterError("it has no delimiter, or fewer than six frames")
        }
        let parts = frames[(mark + 2)..<(mark + 6)]
        guard JupyterFrames.isSigned(frames[mark + 1], parts, key: key) else {
            throw JupyterError("its signature is not that of the connection's key")
        }
        self.channel = channel
        identities = Array(frames[..<mark])
        header = frames[mark + 2]
        let fields: PropertyListFields?
        do throws(JSONError) {
            fields = try PropertyListValue(json: header).fields
            content = try PropertyListValue(json: frames[mark + 5])
        } catch { throw JupyterError("it is not JSON: \(error.message)") }
        guard case .string(let type)? = fields?["msg_type"] else { throw JupyterError("its header has no type") }
        self.type = type
    }
}

/// A message of the kernel, without its header and signature.
package struct JupyterAnswer: Sendable {
    package let channel: JupyterConnection.Channel
    package let type: String
    package let content: PropertyListFields
    /// The header of the request that it belongs to; nil for none.
    package let parent: [UInt8]?
    /// The way to a front end; for all of them, the topic.
    let identities: [[UInt8]]

    /// A message for the front end that sent a request, through the same socket or another.
    package init(
        _ type: String, _ content: PropertyListFields, to request: JupyterMessage,
        through channel: JupyterConnection.Channel? = nil
    ) {
        (self.type, self.content, parent) = (type, content, request.header)
        self.channel = channel ?? request.channel
        identities = request.identities
    }

    /// A message for all front ends, or for those of a topic.
    package init(_ type: String, _ content: PropertyListFields, parent: [UInt8]?, topic: [UInt8]? = nil) {
        (self.type, self.content, self.parent, channel) = (type, content, parent, .iopub)
        identities = [topic ?? Array(type.utf8)]
    }
}

/// Makes the frames of messages.
struct JupyterFrames {
    static let delimiter = Array("<IDS|MSG>".utf8)
    private static let empty = Array("{}".utf8)

    private let key: [UInt8]
    /// The session that the headers name.
    private let session: String
    private var count = 0

    init(key: [UInt8]) {
        self.key = key
        session = (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
    }

    /// The frames of a message.
    mutating func frames(of answer: JupyterAnswer) -> [[UInt8]] {
        count += 1
        let header: PropertyListFields = [
            "msg_id": .string("\(session)_\(count)"), "session": .string(session), "username": .string("kernel"),
            "date": .string(PropertyListDate.now().exchangeText), "msg_type": .string(answer.type),
            "version": .string("5.4"),
        ]
        let parts = [Self.json(header), answer.parent ?? Self.empty, Self.empty, Self.json(answer.content)]
        return answer.identities + [Self.delimiter, Self.signature(parts[...], key: key)] + parts
    }

    /// Contents are texts, whole numbers and their containers, all of which JSON has.
    private static func json(_ fields: PropertyListFields) -> [UInt8] {
        (try? PropertyListValue.fields(fields).json()) ?? empty
    }

    /// The signature of a message's four parts, in hexadecimal digits; empty without a key.
    static func signature(_ parts: ArraySlice<[UInt8]>, key: [UInt8]) -> [UInt8] {
        key.isEmpty ? [] : Array(SHA256.code(of: parts, key: key).hexadecimal.utf8)
    }

    /// Whether a signature is right. It takes as long for any wrong one.
    static func isSigned(_ signature: [UInt8], _ parts: ArraySlice<[UInt8]>, key: [UInt8]) -> Bool {
        let right = Self.signature(parts, key: key)
        guard signature.count == right.count else { return false }
        return zip(signature, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A connection file: the addresses at which a front end expects its kernel, and the key of their messages.
package struct JupyterConnection: Sendable, Hashable {
    /// The sockets of a kernel, by the names of their ports in the file.
    package enum Channel: String, Sendable, CaseIterable {
        /// Requests, answered one after another.
        case shell = "shell_port"
        /// Interrupts and the end, answered also while an entry runs.
        case control = "control_port"
        /// Questions of the kernel.
        case stdin = "stdin_port"
        /// What the kernel tells to all of its front ends.
        case iopub = "iopub_port"
        /// Bytes that are sent back.
        case heartbeat = "hb_port"
    }

    /// The key of signatures; empty for messages without any.
    package let key: [UInt8]
    private let transport: String
    private let address: String
    private let ports: [Channel: Int]

    /// Reads the contents of a connection file.
    ///
    /// - Throws: `JupyterError` that names the field which is missing or not understood.
    package init(json bytes: [UInt8]) throws(JupyterError) {
        let fields: PropertyListFields
        do throws(JSONError) { fields = try PropertyListValue(json: bytes).fields ?? [:] } catch {
            throw JupyterError("it is not JSON: \(error.message)")
        }
        func text(_ name: String) throws(JupyterError) -> String {
            guard case .string(let text)? = fields[name] else { throw JupyterError("it has no text \"\(name)\"") }
            return text
        }
        transport = try text("transport")
        guard ["tcp", "ipc"].contains(transport) else {
            throw JupyterError("the transport \"\(VisibleText.line(transport))\" is neither tcp nor ipc")
        }
        address = try text("ip")
        key = Array(try text("key").utf8)
        let scheme = try text("signature_scheme")
        guard key.isEmpty || scheme == "hmac-sha256" else {
            throw JupyterError("messages are signed by hmac-sha256 only, and not by \"\(VisibleText.line(scheme))\"")
        }
        var ports: [Channel: Int] = [:]
        for channel in Channel.allCases {
            guard case .integer(let port)? = fields[channel.rawValue], (1...65535).contains(port) else {
                throw JupyterError("\"\(channel.rawValue)\" is not a port from 1 to 65535")
            }
            ports[channel] = Int(port)
        }
        self.ports = ports
    }

    /// The address of a socket, as the library takes it: `tcp://127.0.0.1:5555`, `ipc://path-1`.
    package func endpoint(_ channel: Channel) -> String {
        "\(transport)://\(address)\(transport == "ipc" ? "-" : ":")\(ports[channel] ?? 0)"
    }

    /// The ports of TCP that the kernel listens on.
    package var listenedPorts: Set<Int> { transport == "tcp" ? Set(ports.values) : [] }
}

/// A connection that cannot be served.
package struct JupyterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package let message: String
    package var description: String { message }

    init(_ message: String) { self.message = message }

    package static let noThread = JupyterError("the system gives this process no further thread")
}
