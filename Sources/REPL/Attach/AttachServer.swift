import Application
import Glibc
package import Scripting

/// Serves the prompts attached to a host: each connection is a session on the host's one state.
package final class AttachServer {
    /// The most attached prompts.
    static let sessionLimit = 8

    private unowned let host: ScriptHost
    private let socket: ContainerSocket
    private var watch: LoopWatch?
    private var sessions: [AttachSession] = []

    /// Starts listening; nil when the host has no socket.
    ///
    /// - Parameter host: outlives the server.
    package init?(_ host: ScriptHost) {
        guard let socket = host.socket else { return nil }
        self.host = host
        self.socket = socket
        watch = host.loop.watch(socket.descriptor) { [unowned self] _ in accept() }
    }

    /// Ends all sessions.
    package func stop() {
        watch?.cancel()
        watch = nil
        for session in sessions { session.end() }
        sessions = []
    }

    private func accept() {
        guard let descriptor = socket.accept() else { return }
        let client = AttachSocket(descriptor)
        sessions.removeAll { $0.isEnded }
        guard sessions.count < Self.sessionLimit else {
            return refuse(client, "\(Self.sessionLimit) prompts are attached already: leave one of them first")
        }
        guard let session = AttachSession(host, client) else {
            return refuse(client, "the host can make no further thread")
        }
        sessions.append(session)
    }

    /// A new connection always has room for a few bytes.
    private func refuse(_ client: AttachSocket, _ reason: String) {
        _ = client.send(AttachMessage(.refused, reason).encoded[...])
        client.end()
    }
}
