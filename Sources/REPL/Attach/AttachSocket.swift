import CPlatform
import Glibc

/// A connection between a prompt and a host. The descriptor is closed with the last reference, so that no thread reads
/// from a reused descriptor.
final class AttachSocket: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: a connected socket; closed by this object.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Shuts down both directions: a blocked read returns.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends bytes without blocking.
    ///
    /// - Returns: the number of bytes accepted, 0 when the buffer is full; nil when the peer is gone.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let sent = bytes.withUnsafeBytes { cubby_send_some(descriptor, $0.baseAddress, $0.count) }
        if sent >= 0 { return Int(sent) }
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : nil
    }

    /// Reads available bytes.
    ///
    /// - Parameters:
    ///   - buffer: receives the bytes.
    ///   - waits: whether to wait for the first byte.
    /// - Returns: the number of bytes; 0 when none are available; nil when the peer is gone.
    func receive(into buffer: inout [UInt8], waits: Bool) -> Int? {
        while true {
            let count = recv(descriptor, &buffer, buffer.count, waits ? 0 : Int32(MSG_DONTWAIT))
            if count > 0 { return count }
            if count < 0, errno == EINTR { continue }
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : nil
        }
    }
}
