import PropertyList

/// Decodes a client's bytes into the contents of messages: a header with `Content-Length`, and JSON. Input may be split
/// anywhere.
///
/// A header has no other fields than those of the protocol. Anything else ends the connection with its first bytes: a web
/// page can send a port any content, but not without a line of HTTP before it.
struct MessageDecoder: Sendable {
    /// Malformed input; the connection is unusable afterwards.
    enum Problem: Error, Sendable, Hashable {
        case longHeader
        case badHeader
        case longContent(limit: Int)
        case badContent(String)
        case tooMany

        var message: String {
            switch self {
            case .longHeader: "a header is longer than \(MessageDecoder.headerLimit >> 10) KB"
            case .badHeader: "the bytes are not a message of the Debug Adapter Protocol"
            case .longContent(let limit): "a message is longer than \(limit >> 10) KB"
            case .badContent(let reason): "a message is not a request: \(reason)"
            case .tooMany: "too many requests wait"
            }
        }
    }

    /// Maximum length of a header in bytes, with its empty line.
    static let headerLimit = 8 << 10
    /// Maximum length of a content in bytes.
    static let contentLimit = 8 << 20
    /// The same before a client has shown what it has to.
    static let strangerLimit = 64 << 10
    /// The limit in force.
    var limit = contentLimit
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
            length = try length(in: header)
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
            try Self.checkBeginning(of: head)
            if head.count == Self.headerLimit { throw .longHeader }
            return nil
        }
        position = end + Self.headerEnd.count
        return head[..<end]
    }

    private static let fields = ["content-length", "content-type"]

    /// Refuses an incomplete header whose bytes so far cannot begin one.
    private static func checkBeginning(of head: ArraySlice<UInt8>) throws(Problem) {
        var rest = head
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0A }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let text = String(decoding: name, as: UTF8.self).lowercased()
            let isComplete = name.endIndex < line.endIndex
            // The empty line, so far, behind a field.
            let isEnd = line.elementsEqual([0x0D]) && line.startIndex > head.startIndex
            guard
                isEnd
                    || fields.contains(where: {
                        isComplete ? $0 == text : line.endIndex == rest.endIndex && $0.hasPrefix(text)
                    })
            else { throw .badHeader }
            rest = rest[line.endIndex...].dropFirst()
        }
    }

    /// The value of `Content-Length`.
    private func length(in header: ArraySlice<UInt8>) throws(Problem) -> Int {
        var length: Int?
        // A carriage return and a line feed are one character.
        for line in String(decoding: header, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false) {
            guard let colon = line.firstIndex(of: ":") else { throw .badHeader }
            let name = line[..<colon].lowercased()
            guard Self.fields.contains(name) else { throw .badHeader }
            guard name == Self.fields[0] else { continue }
            let value = line[line.index(after: colon)...].drop { $0.is(" ") }
            guard length == nil, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw .badHeader
            }
            guard let count = Int(value), count <= limit else { throw .longContent(limit: limit) }
            length = count
        }
        guard let length else { throw .badHeader }
        return length
    }
}

/// A request of a client.
package struct DebugRequest: Sendable {
    /// The sequence number, repeated in the response.
    let sequence: Int
    let command: String
    var arguments: JSONValue

    /// Reads a message.
    ///
    /// - Returns: nil if the message is not a request.
    init?(_ content: [UInt8]) throws(MessageDecoder.Problem) {
        let message: JSONValue
        do throws(JSONError) { message = try JSONValue(json: content) } catch { throw .badContent(error.message) }
        guard let type = message["type"]?.text else { throw .badContent("it has no type") }
        guard type == "request" else { return nil }
        guard let sequence = message["seq"]?.number, let command = message["command"]?.text else {
            throw .badContent("it has no number or no command")
        }
        self.sequence = sequence
        self.command = command
        arguments = message["arguments"] ?? .object([:])
    }

    /// The message, for relaying to a host.
    var message: JSONValue {
        .of(["type": "request", "seq": sequence, "command": command, "arguments": arguments])
    }
}

/// The reason why a request is refused.
struct DebugError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

extension JSONValue {
    /// The value as a message with its header; empty if JSON cannot represent it.
    var framed: [UInt8] {
        guard let content = try? json() else { return [] }
        return Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
    }
}
