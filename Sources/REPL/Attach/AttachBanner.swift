import PropertyList

/// The host's greeting.
struct AttachBanner: Equatable {
    var version = AttachMessage.version
    var text: String
    /// Whether the host says when it begins a command's single entry: by output without bytes.
    var tellsBeginning = true

    init(_ text: String) { self.text = text }

    /// Nil if the bytes are not a JSON object: they are an older host's.
    init?(json bytes: [UInt8]) {
        guard let fields = JSONFields(bytes) else { return nil }
        version = fields.number("version")
        text = fields.text("text")
        tellsBeginning = fields.flag("tellsBeginning")
    }

    var json: [UInt8] {
        JSONFields.encode([
            "version": .integer(Int64(version)), "text": .string(text), "tellsBeginning": .boolean(tellsBeginning),
        ])
    }

    /// The message for a prompt and a host of different versions.
    static func mismatch(prompt: Int, host: Int) -> String {
        "the prompt speaks version \(prompt) and the host version \(host): "
            + "use the host's cubby, or start the host anew with this one"
    }
}
