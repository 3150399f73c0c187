/// A message between a prompt and its host: a kind, the content's length in four bytes, little-endian, and the content.
struct AttachMessage: Sendable, Hashable {
    enum Kind: UInt8, Sendable {
        /// To the host: the terminal's columns and rows as text.
        case hello = 0x48
        /// To the host: an entry to run.
        case entry = 0x45
        /// To the host: interrupt the entries sent before.
        case interrupt = 0x49
        /// To the prompt: the greeting.
        case banner = 0x42
        /// To the prompt instead of a greeting: the reason of a refusal.
        case refused = 0x52
        /// To the prompt: an entry's output.
        case output = 0x4F
        case errors = 0x58
        /// To the prompt: an entry has ended, with or without an error.
        case done = 0x44
        case failed = 0x46
    }

    /// The number of bytes before the content.
    static let headLength = 5

    var kind: Kind
    var bytes: [UInt8]

    init(_ kind: Kind, _ bytes: [UInt8] = []) {
        self.kind = kind
        self.bytes = bytes
    }

    init(_ kind: Kind, _ text: String) { self.init(kind, Array(text.utf8)) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The encoded message.
    var encoded: [UInt8] {
        let count = UInt32(clamping: bytes.count)
        return [kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + bytes
    }
}
