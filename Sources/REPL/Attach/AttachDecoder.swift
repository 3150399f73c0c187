/// Decodes a peer's bytes into messages; input may be split anywhere.
struct AttachDecoder: Sendable {
    /// Malformed input; the connection is unusable afterwards.
    enum Problem: Error, Sendable, Hashable {
        case unknownKind
        case tooLong
        case tooMany

        var message: String {
            switch self {
            case .unknownKind: "the bytes are not a message of cubby attach"
            case .tooLong: "a message is longer than \(AttachDecoder.limit >> 20) MB"
            case .tooMany: "too many messages wait for the host"
            }
        }
    }

    /// Maximum size of a message's content in bytes.
    static let limit = 16 << 20

    private var bytes: [UInt8] = []
    private var position = 0

    mutating func append(_ piece: some Collection<UInt8>) {
        if position > 0, position >= bytes.count / 2 {
            bytes.removeFirst(position)
            position = 0
        }
        bytes += piece
    }

    /// The next complete message; nil when more bytes are needed.
    mutating func next() throws(Problem) -> AttachMessage? {
        let head = bytes[position...].prefix(AttachMessage.headLength)
        guard let first = head.first else { return nil }
        guard let kind = AttachMessage.Kind(rawValue: first) else { throw .unknownKind }
        guard head.count == AttachMessage.headLength else { return nil }
        let count = head.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= Self.limit else { throw .tooLong }
        let start = position + AttachMessage.headLength
        guard bytes.count - start >= count else { return nil }
        position = start + count
        return AttachMessage(kind, Array(bytes[start..<position]))
    }
}
