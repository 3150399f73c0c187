import Application
import Glibc

/// A connection whose first byte tells a prompt from a debugger, whose messages begin with their length.
final class AttachArrival {
    /// Seconds for the first byte.
    private static let limit = 10.0

    let socket: AttachSocket
    private var watch: LoopWatch?
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - socket: the connection.
    ///   - loop: the host's loop.
    ///   - completion: called once: whether it is a debugger; nil if nothing was received.
    init(_ socket: AttachSocket, loop: EventLoop, completion: @escaping (AttachArrival, Bool?) -> Void) {
        self.socket = socket
        watch = loop.watch(socket.descriptor) { [unowned self] _ in
            var first: UInt8 = 0
            let count = recv(socket.descriptor, &first, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            end(completion, count == 1 ? first == UInt8(ascii: "C") : nil)
        }
        timer = loop.after(Self.limit) { [unowned self] in end(completion, nil) }
    }

    private func end(_ completion: (AttachArrival, Bool?) -> Void, _ result: Bool?) {
        cancel()
        completion(self, result)
    }

    func cancel() {
        watch?.cancel()
        timer?.cancel()
    }
}
