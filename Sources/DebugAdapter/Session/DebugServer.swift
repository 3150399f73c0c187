import Glibc
package import Scripting

/// The debugger's client on a host that runs already: one at a time.
package final class DebugServer {
    private unowned let host: ScriptHost
    private var session: DebugSession?

    /// - Parameter host: outlives the server.
    package init(_ host: ScriptHost) { self.host = host }

    /// Serves a client of the container's socket.
    ///
    /// - Parameter descriptor: a connected socket of the user's own, which the connection closes.
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

    /// Ends the session with the host.
    package func stop() {
        session?.adapter.event("terminated")
        session?.end()
    }
}
