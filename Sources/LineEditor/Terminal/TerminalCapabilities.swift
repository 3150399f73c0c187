internal import Wording

/// A terminal's capabilities beyond text, collected from its answers among the keys.
///
/// The queries are written once, when the editor first enters its mode, and nothing waits for the answers: a terminal
/// ignores unknown queries. Sources: the kitty graphics protocol ("querying support"), ECMA-48 and xterm's "Control
/// Sequences" (device attributes, XTVERSION, window operation 16, OSC 11).
package struct TerminalCapabilities: Hashable, Sendable {
    /// Whether it supports the kitty graphics protocol.
    package private(set) var hasKittyGraphics = false
    /// Whether it supports sixels.
    package private(set) var hasSixel = false
    /// The terminal's name and version; nil without an answer.
    package private(set) var name: String?
    /// Whether its background is dark or light; nil without an answer.
    package private(set) var background: TerminalBackground?
    /// A cell's size in pixels; nil without an answer.
    package private(set) var cell: (width: Int, height: Int)? {
        get { cellWidth > 0 && cellHeight > 0 ? (cellWidth, cellHeight) : nil }
        set { (cellWidth, cellHeight) = newValue ?? (0, 0) }
    }
    /// The columns of a narrow character that U+FE0F makes an emoji; nil without an answer.
    package private(set) var emojiColumns: Int?
    private var cellWidth = 0
    private var cellHeight = 0

    package init() {}

    /// The capabilities of another process's terminal.
    package init(
        hasKittyGraphics: Bool, hasSixel: Bool, name: String?, cell: (width: Int, height: Int)?,
        background: TerminalBackground?
    ) {
        self.hasKittyGraphics = hasKittyGraphics
        self.hasSixel = hasSixel
        self.name = name
        self.background = background
        self.cell = cell
    }

    /// Draws a narrow character with U+FE0F at the start of an empty line, asks where the cursor is, and erases it.
    private static let widthQuestion = "\r\u{263A}\u{FE0F}\u{1B}[6n\r\u{1B}[K"

    /// The queries for a terminal.
    ///
    /// - Parameters:
    ///   - environment: reads a variable.
    ///   - isLineEmpty: whether the cursor is in an empty line, so that the width of characters can be measured there.
    /// - Returns: control sequences; none for a terminal that would display them.
    package static func questions(environment: (String) -> String?, isLineEmpty: Bool = false) -> [UInt8] {
        let term = environment("TERM") ?? ""
        // The Linux console and old multiplexers display unknown sequences.
        guard term.hasPrefix("xterm") || term.hasPrefix("tmux") || term.hasPrefix("screen") || isModern(term) else {
            return []
        }
        var text = term.hasPrefix("screen") ? "" : TerminalBackground.question
        // Queries support with a picture of one pixel. tmux and screen would set it as a window title.
        if environment("TMUX") == nil, !term.hasPrefix("screen"), !term.hasPrefix("tmux") {
            text += "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\"
        }
        if isLineEmpty { text += widthQuestion }
        return Array((text + "\u{1B}[>q\u{1B}[16t\u{1B}[c").utf8)
    }

    /// Whether this is a modern terminal, which ignores unknown queries.
    static func isModern(_ term: String) -> Bool {
        ["alacritty", "contour", "foot", "ghostty", "mlterm", "rio", "wezterm"].contains { term.hasPrefix($0) }
    }

    /// Takes an answer; unrelated ones are ignored.
    package mutating func take(_ report: TerminalReport) {
        switch report {
        case .deviceAttributes(let body): hasSixel = Self.attributes(body).contains("4")
        case .cursorPosition(_, let column) where emojiColumns == nil && 2...3 ~= column:
            emojiColumns = column - 1
            DisplayWidth.adopt(emojiPresentation: column - 1)
        case .controlSequence(let body):
            let parts = body.dropLast().split(separator: ";")
            guard body.last == "t", parts.count == 3, parts[0] == "6", let height = Int(parts[1]),
                let width = Int(parts[2]), (1...256).contains(width), (1...256).contains(height)
            else { return }
            cell = (width, height)
        case .string(UInt8(ascii: "]"), let bytes):
            if let answer = TerminalBackground(answer: String(decoding: bytes, as: UTF8.self)) { background = answer }
        case .string(UInt8(ascii: "_"), let bytes):
            if String(decoding: bytes, as: UTF8.self).hasPrefix("Gi=31;OK") { hasKittyGraphics = true }
        case .string(UInt8(ascii: "P"), let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasPrefix(">|") { name = String(text.dropFirst(2).prefix(80)) }
        default: return
        }
    }

    /// `?62;4;22` → 62, 4, 22; a prefix of `>` or `=` marks other attributes.
    private static func attributes(_ body: String) -> [Substring] {
        body.hasPrefix("?") ? body.dropFirst().split(separator: ";") : []
    }
}
