package import Application
import CPlatform
import Glibc
import PropertyList

/// Relays a client to a running host: repeats the client's first requests to it, then copies bytes between the two.
extension DebugAdapter {
    /// Copies messages both ways until the host disconnects. If the client does, the host is notified.
    ///
    /// - Parameters:
    ///   - host: the container's socket, connected.
    ///   - key: what the host wants to see.
    package func relay(to host: Int32, showing key: AccessKey) {
        pending?.arguments["token"] = .string(key.text)
        let asked = [greeting, pending].compactMap { $0?.message.framed }.joined()
        guard Self.write(Array(asked), to: host), let rest = skipGreeting(from: host) else { return end(status: 0) }
        // The client got the capabilities of a launched program: withdraw those.
        let capabilities = ["supportsTerminateRequest", "supportsRestartRequest", "supportTerminateDebuggee"]
        event(
            "capabilities",
            .object([
                "capabilities": .fields(PropertyListFields(capabilities.map { ($0, .boolean(false)) }))
            ]))
        connection.outbox.drain()
        var waiting: [UInt8] = []
        while let request = connection.inbox.next() { waiting += request.message.framed }
        waiting += connection.inbox.takeRest()
        guard Self.write(rest, to: connection.output), Self.write(waiting, to: host) else { return }
        copy(host)
    }

    /// Skips the host's response to `initialize`, since the client already has one.
    ///
    /// - Returns: the other bytes received; nil if the host is gone or sent malformed JSON.
    private func skipGreeting(from host: Int32) -> [UInt8]? {
        var decoder = MessageDecoder()
        var others: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let content = (try? decoder.next()) ?? nil {
                guard let message = try? JSONValue(json: content) else { return nil }
                if message["type"]?.text == "response", message["command"]?.text == "initialize" {
                    return others + decoder.takeRest()
                }
                others += message.framed
            }
            let count = read(host, &buffer, buffer.count)
            guard count > 0 else {
                _ = Self.write(others, to: connection.output)
                return nil
            }
            decoder.append(buffer[..<count])
        }
    }

    private func copy(_ host: Int32) {
        var watched = [connection.input, host].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            guard poll(&watched, 2, -1) >= 0 || errno == EINTR else { return }
            if watched[0].revents != 0, !Self.copy(connection.input, host) {
                shutdown(host, Int32(SHUT_WR))
                // poll ignores a negative descriptor.
                watched[0] = pollfd(fd: -1, events: 0, revents: 0)
            }
            if watched[1].revents != 0, !Self.copy(host, connection.output) { return }
        }
    }

    /// Copies the available bytes; false at the end of either side.
    private static func copy(_ from: Int32, _ to: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(from, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        return write(Array(buffer[..<count]), to: to)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        cubby_write(descriptor, bytes, bytes.count) == bytes.count
    }
}
