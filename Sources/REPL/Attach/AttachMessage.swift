import Application
import LineEditor
import PropertyList

/// A message between a prompt and its host: a kind, the content's length in four bytes, little-endian, and the content.
struct AttachMessage: Sendable, Hashable {
    /// The version of the messages, which must be the same on both sides. Version 1 had no JSON, and version 2 no key.
    static let version = 3

    enum Kind: UInt8, Sendable {
        /// To the host, as the first message: the version and the terminal, an ``AttachScreen``.
        case hello = 0x48
        /// To the host, as the only message: the key, and a question for its state. To the other side: the state, JSON.
        case status = 0x54
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
        /// To the prompt instead of a greeting: the reason for a denial.
        case denied = 0x52
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

    /// The denial of another key than the host's.
    static var otherKey: AttachMessage {
        let folder = ConfigurationFolder.locate() ?? "no folder"
        return AttachMessage(
            .denied,
            "the key that was shown is not that of the host, which is in \(folder): use the HOME and XDG_CONFIG_HOME of the host"
        )
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var encoded: [UInt8] {
        let count = UInt32(clamping: bytes.count)
        return [kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + bytes
    }
}

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

/// The host's greeting.
struct AttachBanner: Equatable {
    var version = AttachMessage.version
    var text: String
    /// Whether the host says when it begins a command's single entry: by output without bytes.
    var announcesBeginning = true

    init(_ text: String) { self.text = text }

    /// Nil if the bytes are not a JSON object: they are an older host's.
    init?(json bytes: [UInt8]) {
        guard let fields = PropertyListFields(json: bytes) else { return nil }
        version = fields.integer("version")
        text = fields.string("text")
        announcesBeginning = fields.flag("tellsBeginning")
    }

    var json: [UInt8] {
        JSONValue.of(["version": version, "text": text, "tellsBeginning": announcesBeginning]).encoded
    }

    /// The message for a prompt and a host of different versions.
    static func mismatch(prompt: Int, host: Int) -> String {
        "the prompt speaks version \(prompt) and the host version \(host): "
            + "use the host's cubby, or start the host anew with this one"
    }
}

/// An attached prompt, for the host: its terminal, as the host's own prompt would find it.
struct AttachScreen: Sendable, Equatable {
    /// The environment variables that affect the output.
    static let variables = [
        "TERM", "COLORTERM", "COLORFGBG", "PAGER", "TERM_PROGRAM", "TMUX", "NO_COLOR", "VISUAL", "EDITOR", "LC_ALL",
        "LC_CTYPE", "LANG",
    ]
    /// Maximum length of a variable's value in characters.
    private static let valueLimit = 200

    /// The version of the messages.
    var version = AttachMessage.version
    /// The key of the user's hosts, in the first message.
    var key = ""
    var size: TerminalSize
    /// Whether output goes to a terminal.
    var isTerminal: Bool
    /// Whether entries are typed, in contrast to a command's single entry.
    var isPrompt: Bool
    /// Whether lines are edited.
    var isEditing = false
    var capabilities = TerminalCapabilities()
    var environment: [String: String] = [:]

    /// The variables of an environment.
    static func environment(_ value: (String) -> String?) -> [String: String] {
        Dictionary(uniqueKeysWithValues: variables.compactMap { name in value(name).map { (name, $0) } })
    }
}

extension AttachScreen {
    /// Nil if the bytes are not a JSON object: they are an older prompt's. Sizes are limited to those of screens.
    init?(json bytes: [UInt8]) {
        guard let fields = PropertyListFields(json: bytes) else { return nil }
        func number(_ name: String, _ range: ClosedRange<Int>) -> Int {
            min(max(fields.integer(name), range.lowerBound), range.upperBound)
        }
        size = TerminalSize(
            columns: number("columns", 20...1000), rows: number("rows", 4...1000),
            pixelWidth: number("pixelWidth", 0...100_000), pixelHeight: number("pixelHeight", 0...100_000))
        version = fields.integer("version")
        key = fields.string("key")
        isTerminal = fields.flag("isTerminal")
        isPrompt = fields.flag("isPrompt")
        isEditing = fields.flag("isEditing")
        let cell = (width: number("cellWidth", 0...256), height: number("cellHeight", 0...256))
        let name = fields.string("terminal")
        capabilities = TerminalCapabilities(
            hasKittyGraphics: fields.flag("kitty"), hasSixel: fields.flag("sixel"),
            name: name.isEmpty ? nil : String(name.prefix(80)), cell: cell.width > 0 && cell.height > 0 ? cell : nil,
            background: TerminalBackground(exactly: fields.string("background")))
        let variables = fields["environment"]?.fields
        for name in Self.variables {
            guard let text = variables?.string(name), !text.isEmpty else { continue }
            environment[name] = String(text.prefix(Self.valueLimit))
        }
    }

    var json: [UInt8] {
        let cell = capabilities.cell ?? (0, 0)
        return JSONValue.of([
            "version": version, "key": key.isEmpty ? nil : key, "columns": size.columns, "rows": size.rows,
            "pixelWidth": size.pixelWidth, "pixelHeight": size.pixelHeight, "isTerminal": isTerminal,
            "isPrompt": isPrompt, "isEditing": isEditing, "cellWidth": cell.width, "cellHeight": cell.height,
            "kitty": capabilities.hasKittyGraphics, "sixel": capabilities.hasSixel,
            "background": capabilities.background?.rawValue ?? "", "terminal": capabilities.name ?? "",
            "environment": JSONValue.fields(PropertyListFields(environment.map { ($0.key, .string($0.value)) })),
        ]).encoded
    }
}

/// A prompt's request for completion candidates.
struct AttachQuestion: Equatable {
    /// Maximum length of a text to complete in bytes.
    static let textLimit = 256 << 10

    /// The question's number; only the latest one's answer counts.
    var number: Int
    var text: String
    /// The cursor's offset in the text in bytes.
    var cursor: Int

    init(number: Int, text: String, cursor: Int) {
        (self.number, self.text, self.cursor) = (number, text, cursor)
    }

    init?(json bytes: [UInt8]) {
        guard let fields = PropertyListFields(json: bytes) else { return nil }
        self.init(number: fields.integer("number"), text: fields.string("text"), cursor: fields.integer("cursor"))
    }

    var json: [UInt8] {
        JSONValue.of(["number": number, "text": text, "cursor": cursor]).encoded
    }
}

/// The host's answer.
struct AttachCandidates: Equatable {
    /// Maximum size of the candidates' texts in bytes; the rest is left out.
    static let byteLimit = 256 << 10
    /// Maximum length of details and documentation in characters.
    private static let detailLimit = 200

    var number: Int
    var result: CompletionResult

    init(number: Int, result: CompletionResult) {
        (self.number, self.result) = (number, result)
    }

    init?(json bytes: [UInt8]) {
        guard let fields = PropertyListFields(json: bytes) else { return nil }
        let lower = max(fields.integer("lower"), 0)
        let candidates = fields.array("candidates").compactMap(\.fields).map { each in
            CompletionCandidate(
                each.string("text"), label: each.string("label"),
                kind: CompletionCandidate.Kind(exactly: each.string("kind")) ?? .none,
                detail: each.string("detail"), suffix: each.string("suffix"),
                documentation: each.string("documentation"))
        }
        self.init(
            number: fields.integer("number"),
            result: CompletionResult(
                replacement: lower..<max(lower, fields.integer("upper")), candidates: candidates))
    }

    var json: [UInt8] {
        var left = Self.byteLimit
        let fitting = result.candidates.prefix { candidate in
            left -= candidate.text.utf8.count + candidate.label.utf8.count + candidate.suffix.utf8.count
            return left >= 0
        }
        let candidates = fitting.map { candidate in
            JSONValue.of([
                "text": candidate.text, "label": candidate.label, "kind": candidate.kind.rawValue,
                "detail": String(candidate.detail.prefix(Self.detailLimit)), "suffix": candidate.suffix,
                "documentation": String(candidate.documentation.prefix(Self.detailLimit)),
            ])
        }
        return JSONValue.of([
            "number": number, "lower": result.replacement.lowerBound, "upper": result.replacement.upperBound,
            "candidates": candidates,
        ]).encoded
    }
}

/// The fields of a message's JSON object, each with a default if it is missing or of another type.
extension PropertyListFields {
    /// Nil if the bytes are not a JSON object.
    init?(json bytes: [UInt8]) {
        guard let fields = (try? PropertyListValue(json: bytes))?.fields else { return nil }
        self = fields
    }

    func string(_ name: String) -> String {
        if case .string(let text)? = self[name] { text } else { "" }
    }

    func integer(_ name: String) -> Int { self[name]?.number ?? 0 }

    func flag(_ name: String) -> Bool { self[name] == .boolean(true) }

    func array(_ name: String) -> [PropertyListValue] { self[name]?.elements ?? [] }
}

extension JSONValue {
    /// The value as JSON; an empty object if JSON cannot represent a number.
    var encoded: [UInt8] { (try? json()) ?? Array("{}".utf8) }
}
