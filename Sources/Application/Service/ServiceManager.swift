import CPlatform
import Glibc

/// The service manager that started this process: systemd, or another that implements `sd_notify`.
///
/// Each message is one datagram to the socket named by `$NOTIFY_SOCKET`, which is opened early, before a sandbox could
/// prevent it. Without a manager nothing happens.
package final class ServiceManager {
    private let descriptor: Int32

    /// - Parameter environment: reads a variable.
    package init(environment: (String) -> String? = { Environment.value($0) }) {
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            let address = UnixSocketAddress(path)
        else {
            descriptor = -1
            return
        }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if socket >= 0, address.pass(to: { connect(socket, $0, $1) }) != 0 {
            close(socket)
            descriptor = -1
        } else {
            descriptor = socket
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether there is a service manager.
    package var isPresent: Bool { descriptor >= 0 }

    /// Sends a message to the manager; errors are ignored.
    ///
    /// - Parameter state: assignments, one for each line: `READY=1`, `STATUS=…`, `EXTEND_TIMEOUT_USEC=…`, `STOPPING=1`.
    package func notify(_ state: String) {
        guard descriptor >= 0 else { return }
        let bytes = Array(state.utf8)
        _ = cubby_send_some(descriptor, bytes, bytes.count)
    }
}
