import Application
import Glibc
public import Scripting

/// Serves prompts that are attached to a host: each connection is a session of its own on the host's one state.
public final class AttachServer {
    private unowned let host: ScriptHost
    private let socket: ContainerSocket
    private var watch: LoopWatch?
    private var sessions: [AttachSession] = []

    /// Listens from now on; nil when the host has no socket.
    ///
    /// - Parameter host: outlives the server.
    public init?(_ host: ScriptHost) {
        guard let socket = host.socket else { return nil }
        self.host = host
        self.socket = socket
        watch = host.loop.watch(socket.descriptor) { [unowned self] _ in accept() }
    }

    /// Ends all sessions.
    public func stop() {
        watch?.cancel()
        watch = nil
        for session in sessions { session.end() }
        sessions = []
    }

    private func accept() {
        guard let client = socket.accept() else { return }
        sessions.removeAll { $0.isEnded }
        guard sessions.count < 8, let session = AttachSession(host, client) else {
            close(client)
            return
        }
        sessions.append(session)
    }
}
