/// Decodes a client's bytes into the contents of messages: a header with `Content-Length`, and JSON. Input may be split
/// anywhere.
struct MessageDecoder: Sendable {
    /// Malformed input; the connection is unusable afterwards.
    enum Problem: Error, Sendable, Hashable {
        case longHeader
        case badHeader
        case longContent
        case badContent(String)
        case tooMany

        var message: String {
            switch self {
            case .longHeader: "a header is longer than \(MessageDecoder.headerLimit >> 10) KB"
            case .badHeader: "the bytes are not a message of the Debug Adapter Protocol"
            case .longContent: "a message is longer than \(MessageDecoder.contentLimit >> 20) MB"
            case .badContent(let reason): "a message is not a request: \(reason)"
            case .tooMany: "too many requests wait"
            }
        }
    }

    /// Maximum length of a header in bytes, with its empty line.
    static let headerLimit = 8 << 10
    /// Maximum length of a content in bytes.
    static let contentLimit = 8 << 20
    private static let headerEnd = Array("\r\n\r\n".utf8)

    private var bytes: [UInt8] = []
    private var position = 0
    /// The length of the next content; nil until its header is complete.
    private var length: Int?

    mutating func append(_ piece: some Collection<UInt8>) {
        if position > 0, position >= bytes.count / 2 {
            bytes.removeFirst(position)
            position = 0
        }
        bytes += piece
    }

    /// The next complete content; nil when more bytes are needed.
    mutating func next() throws(Problem) -> [UInt8]? {
        if length == nil {
            guard let header = try takeHeader() else { return nil }
            length = try Self.length(in: header)
        }
        guard let count = length, bytes.count - position >= count else { return nil }
        defer {
            position += count
            length = nil
        }
        return Array(bytes[position..<position + count])
    }

    /// Takes the bytes that are not decoded yet.
    mutating func takeRest() -> [UInt8] {
        defer { (bytes, position) = ([], 0) }
        return Array(bytes[position...])
    }

    /// The header without its empty line.
    private mutating func takeHeader() throws(Problem) -> ArraySlice<UInt8>? {
        let head = bytes[position...].prefix(Self.headerLimit)
        let last = head.endIndex - Self.headerEnd.count
        guard last >= head.startIndex,
            let end = (head.startIndex...last).first(where: { head[$0...].starts(with: Self.headerEnd) })
        else {
            if head.count == Self.headerLimit { throw .longHeader }
            return nil
        }
        position = end + Self.headerEnd.count
        return head[..<end]
    }

    /// The value of `Content-Length`; other fields are ignored.
    private static func length(in header: ArraySlice<UInt8>) throws(Problem) -> Int {
        var length: Int?
        // A carriage return and a line feed are one character.
        for line in String(decoding: header, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false) {
            guard let colon = line.firstIndex(of: ":") else { throw .badHeader }
            guard line[..<colon].lowercased() == "content-length" else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            guard length == nil, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw .badHeader
            }
            guard let count = Int(value), count <= contentLimit else { throw .longContent }
            length = count
        }
        guard let length else { throw .badHeader }
        return length
    }
}
