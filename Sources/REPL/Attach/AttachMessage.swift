/// A message between a prompt and its host: a kind, the content's length in four bytes, little-endian, and the content.
struct AttachMessage: Sendable, Hashable {
    /// The version of the messages, which must be the same on both sides. Version 1 had no JSON, and version 2 no key.
    static let version = 3

    enum Kind: UInt8, Sendable {
        /// To the host, as the first message: the version and the terminal, an ``AttachScreen``.
        case hello = 0x48
        /// To the host: the terminal has changed, an ``AttachScreen``.
        case screen = 0x53
        /// To the host: an entry to run.
        case entry = 0x45
        /// To the host: interrupt the entries sent before.
        case interrupt = 0x49
        /// To the host: a request for candidates, an ``AttachQuestion``.
        case question = 0x3F
        /// To the host: the result of a request, a ``TerminalAnswer``.
        case answer = 0x41
        /// To the host: input for a pager of the host; without bytes, the screen must be drawn.
        case keys = 0x4B
        /// To the prompt: the version and the greeting, an ``AttachBanner``.
        case banner = 0x42
        /// To the prompt instead of a greeting: the reason for a refusal.
        case refused = 0x52
        /// To the prompt: an entry's output.
        case output = 0x4F
        case errors = 0x58
        /// To the prompt: output that is paged if longer than the screen.
        case page = 0x50
        /// To the prompt: a drawing of a pager of the host. From the first one on, keys go to the host.
        case pager = 0x56
        /// To the prompt: the pager is closed; the content is input for the next entry.
        case pagerEnd = 0x76
        /// To the prompt: a request to its side, a ``TerminalRequest``.
        case request = 0x51
        /// To the prompt: the candidates for a numbered question, an ``AttachCandidates``.
        case candidates = 0x43
        /// To the prompt: the names of the globals, one per line.
        case names = 0x4E
        /// To the prompt: changes that others made.
        case notice = 0x57
        /// To the prompt: the entry requested that it leave.
        case leave = 0x4C
        /// To the prompt: an entry has ended, with or without an error; the number of entries so far.
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

    var encoded: [UInt8] {
        let count = UInt32(clamping: bytes.count)
        return [kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + bytes
    }
}
