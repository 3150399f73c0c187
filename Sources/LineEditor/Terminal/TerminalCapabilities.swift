/// What a terminal says that it can do beyond text, gathered from its answers as they arrive among the keys.
///
/// The questions are written once, when the terminal is first in the editor's mode, and nobody waits: a terminal that
/// doesn't know one stays silent. Sources: the kitty graphics protocol ("querying support"), ECMA-48 and xterm's
/// "Control Sequences" (device attributes, XTVERSION, window operation 16).
public struct TerminalCapabilities: Hashable, Sendable {
    /// Whether pictures can be sent by the kitty graphics protocol.
    public private(set) var hasKittyGraphics = false
    /// Whether pictures can be sent as sixels.
    public private(set) var hasSixel = false
    /// The terminal's own name and version, as it answered; nil when it did not.
    public private(set) var name: String?
    /// A cell in pixels; nil when the terminal did not say.
    public private(set) var cell: (width: Int, height: Int)? {
        get { cellWidth > 0 && cellHeight > 0 ? (cellWidth, cellHeight) : nil }
        set { (cellWidth, cellHeight) = newValue ?? (0, 0) }
    }
    private var cellWidth = 0
    private var cellHeight = 0

    public init() {}

    /// The questions to write to a terminal.
    ///
    /// - Parameter environment: looks up a variable.
    /// - Returns: control sequences; nothing for a terminal that would show them.
    public static func questions(environment: (String) -> String?) -> [UInt8] {
        let term = environment("TERM") ?? ""
        // The Linux console and old multiplexers draw what they don't know.
        guard term.hasPrefix("xterm") || term.hasPrefix("tmux") || term.hasPrefix("screen") || asksAnyway(term) else {
            return []
        }
        var text = ""
        // A picture of one pixel, only asked about. tmux and screen would take it for a window's title.
        if environment("TMUX") == nil, !term.hasPrefix("screen"), !term.hasPrefix("tmux") {
            text += "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\"
        }
        return Array((text + "\u{1B}[>q\u{1B}[16t\u{1B}[c").utf8)
    }

    private static func asksAnyway(_ term: String) -> Bool {
        ["alacritty", "contour", "foot", "ghostty", "mlterm", "rio", "wezterm"].contains { term.hasPrefix($0) }
    }

    /// Takes an answer; what is none of these is passed over.
    public mutating func take(_ report: TerminalReport) {
        switch report {
        case .deviceAttributes(let body): hasSixel = Self.attributes(body).contains("4")
        case .controlSequence(let body):
            let parts = body.dropLast().split(separator: ";")
            guard body.last == "t", parts.count == 3, parts[0] == "6", let height = Int(parts[1]),
                let width = Int(parts[2]), (1...256).contains(width), (1...256).contains(height)
            else { return }
            cell = (width, height)
        case .string(UInt8(ascii: "_"), let bytes):
            if String(decoding: bytes, as: UTF8.self).hasPrefix("Gi=31;OK") { hasKittyGraphics = true }
        case .string(UInt8(ascii: "P"), let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasPrefix(">|") { name = String(text.dropFirst(2).prefix(80)) }
        default: return
        }
    }

    /// `?62;4;22` → 62, 4, 22; what begins with `>` or `=` are other attributes.
    private static func attributes(_ body: String) -> [Substring] {
        body.hasPrefix("?") ? body.dropFirst().split(separator: ";") : []
    }
}
