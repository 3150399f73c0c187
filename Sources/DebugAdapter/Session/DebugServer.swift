import Glibc
package import Scripting

/// Serves debugger clients on a running host, one at a time.
package final class DebugServer {
    private unowned let host: ScriptHost
    private var session: DebugSession?

    /// - Parameter host: outlives the server.
    package init(_ host: ScriptHost) { self.host = host }

    /// Serves a client of the container's socket.
    ///
    /// - Parameter descriptor: a connected socket of the same user; closed by the connection.
    package func accept(_ descriptor: Int32) {
        let connection = DebugConnection(input: descriptor, output: descriptor)
        guard connection.start() else { return }
        let adapter = DebugAdapter(connection)
        guard session == nil else {
            connection.outbox.send(
                DebugOutput(category: .important, text: "another debugger is attached to this host: leave it first\n"))
            adapter.event("terminated")
            return connection.end(waits: false)
        }
        let session = DebugSession(adapter, host)
        session.onEnd = { [weak self] in self?.session = nil }
        self.session = session
        session.begin()
    }

    /// Ends the session when the host ends.
    package func stop() {
        session?.adapter.event("terminated")
        session?.end()
    }
}
