import Files
import PropertyList
@_exported import Wording

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
