import LineEditor
import PropertyList

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
        guard let fields = JSONFields(bytes) else { return nil }
        func number(_ name: String, _ range: ClosedRange<Int>) -> Int {
            min(max(fields.number(name), range.lowerBound), range.upperBound)
        }
        size = TerminalSize(
            columns: number("columns", 20...1000), rows: number("rows", 4...1000),
            pixelWidth: number("pixelWidth", 0...100_000), pixelHeight: number("pixelHeight", 0...100_000))
        version = fields.number("version")
        key = fields.text("key")
        isTerminal = fields.flag("isTerminal")
        isPrompt = fields.flag("isPrompt")
        isEditing = fields.flag("isEditing")
        let cell = (width: number("cellWidth", 0...256), height: number("cellHeight", 0...256))
        let name = fields.text("terminal")
        capabilities = TerminalCapabilities(
            hasKittyGraphics: fields.flag("kitty"), hasSixel: fields.flag("sixel"),
            name: name.isEmpty ? nil : String(name.prefix(80)), cell: cell.width > 0 && cell.height > 0 ? cell : nil,
            background: TerminalBackground(exactly: fields.text("background")))
        let variables = fields.object("environment")
        for name in Self.variables {
            guard let text = variables?.text(name), !text.isEmpty else { continue }
            environment[name] = String(text.prefix(Self.valueLimit))
        }
    }

    var json: [UInt8] {
        let cell = capabilities.cell ?? (0, 0)
        let numbers = [
            "version": version, "columns": size.columns, "rows": size.rows, "pixelWidth": size.pixelWidth,
            "pixelHeight": size.pixelHeight, "cellWidth": cell.width, "cellHeight": cell.height,
        ]
        let flags = [
            "isTerminal": isTerminal, "isPrompt": isPrompt, "isEditing": isEditing,
            "kitty": capabilities.hasKittyGraphics, "sixel": capabilities.hasSixel,
        ]
        var fields = PropertyListFields(numbers.map { ($0.key, .integer(Int64($0.value))) })
        for (name, flag) in flags { fields[name] = .boolean(flag) }
        if !key.isEmpty { fields["key"] = .string(key) }
        fields["background"] = .string(capabilities.background?.rawValue ?? "")
        fields["terminal"] = .string(capabilities.name ?? "")
        fields["environment"] = .fields(PropertyListFields(environment.map { ($0.key, .string($0.value)) }))
        return JSONFields.encode(fields)
    }
}
