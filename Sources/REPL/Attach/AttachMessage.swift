import Application
import Glibc

/// What a prompt and the host that it is attached to say to each other: a kind, a length in four bytes, the least
/// significant first, and so many bytes.
struct AttachMessage: Sendable, Hashable {
    enum Kind: UInt8, Sendable {
        /// To the host: the terminal's columns and rows, as text.
        case hello = 0x48
        /// To the host: an entry to run; and to stop running it.
        case entry = 0x45
        case interrupt = 0x49
        /// To the prompt: who is there; what the entry writes; that it has ended, well or by an error.
        case banner = 0x42
        case output = 0x4F
        case errors = 0x58
        case done = 0x44
        case failed = 0x46
    }

    /// A longer message is no message of ours.
    static let limit = 64 << 20

    var kind: Kind
    var bytes: [UInt8]

    init(_ kind: Kind, _ bytes: [UInt8] = []) {
        self.kind = kind
        self.bytes = bytes
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Sends the message whole.
    ///
    /// - Returns: false when the other side is gone, or does not read.
    func send(to descriptor: Int32) -> Bool {
        let count = UInt32(bytes.count)
        var rest = ([kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Waits for the next message; nil when the other side is gone, or talks of something else.
    static func receive(from descriptor: Int32) -> AttachMessage? {
        guard let head = read(5, from: descriptor), let kind = Kind(rawValue: head[0]) else { return nil }
        let count = (0..<4).reduce(0) { $0 | Int(head[$1 + 1]) << ($1 * 8) }
        guard count <= limit, let bytes = read(count, from: descriptor) else { return nil }
        return AttachMessage(kind, bytes)
    }

    private static func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            // Piece by piece: a length alone must not cost memory.
            var piece = [UInt8](repeating: 0, count: min(count - bytes.count, 1 << 16))
            let got = Glibc.read(descriptor, &piece, piece.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            bytes += piece[..<got]
        }
        return bytes
    }
}
