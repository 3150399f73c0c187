package import Application
import Glibc
package import Scripting

/// Serves debugger clients on a running host, one at a time: that is attached. A connection has to show the key before,
/// in its `attach`.
package final class DebugServer {
    /// Maximum number of connections that are not attached.
    private static let arrivalLimit = 8
    /// Seconds for a connection to attach.
    private static let limit = 10.0

    private unowned let host: ScriptHost
    private let key: AccessKey?
    private var sessions: [DebugSession] = []

    /// - Parameters:
    ///   - host: outlives the server.
    ///   - key: what `attach` has to show.
    package init(_ host: ScriptHost, key: AccessKey?) {
        self.host = host
        self.key = key
    }

    /// Serves a client of the container's socket.
    ///
    /// - Parameter descriptor: a connected socket of the same user; closed by the connection.
    package func accept(_ descriptor: Int32) {
        let connection = DebugConnection(input: descriptor, output: descriptor)
        guard sessions.count(where: { !$0.isAttached }) < Self.arrivalLimit, connection.start() else { return }
        let session = DebugSession(DebugAdapter(connection, key: key), host)
        session.onEnd = { [weak self, weak session] in self?.sessions.removeAll { $0 === session } }
        session.claim = { [weak self] in self?.sessions.contains { $0.isAttached } == false }
        session.limit = host.loop.after(Self.limit) { [weak session] in session?.end() }
        sessions.append(session)
        session.begin()
    }

    /// Ends the sessions when the host ends.
    package func stop() {
        for session in sessions {
            if session.isAttached { session.adapter.event("terminated") }
            session.end()
        }
    }
}
