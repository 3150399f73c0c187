import LineEditor

/// A pager on the terminal's alternate screen. Its owner reads keys, and writes the returned bytes.
final class PagerScreen {
    /// Leaves the alternate screen; the owner may be gone.
    static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// Restores the screen if the process ends in the pager. Otherwise it has no effect: the cursor stays.
    static let restoring = "\u{1B}[?7h\u{1B}[?47l"
    // Lines whose width terminals disagree about are cut, not wrapped.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"

    private var pager: Pager
    private var decoder = KeyDecoder()
    private let palette: TerminalPalette
    /// Whether the alternate screen is on.
    private(set) var isShown = false

    init(_ pager: Pager, palette: TerminalPalette) {
        self.pager = pager
        self.palette = palette
    }

    /// Whether a search is in progress: call ``searchOn()``.
    var isSearching: Bool { pager.isSearching }

    /// The entry that shows what was shown last after steps in the pager; nil without any.
    var entry: String? { pager.entry }

    /// Whether the buffered bytes may be a complete key: call ``flush()`` if no more arrive soon.
    var isWaiting: Bool { decoder.isWaiting }

    /// Switches to the alternate screen and draws it.
    func show() -> [UInt8] {
        guard !isShown else { return draw() }
        isShown = true
        return Array(Self.entering.utf8) + draw()
    }

    /// Switches back.
    func hide() -> [UInt8] {
        guard isShown else { return [] }
        isShown = false
        return Array(Self.leaving.utf8)
    }

    /// Draws the screen.
    func draw() -> [UInt8] {
        guard isShown else { return [] }
        // A copy: drawing may run code that writes to the terminal, which draws again.
        var drawing = pager
        let lines = drawing.lines()
        pager = drawing
        var text = ""
        for (row, line) in lines.enumerated() {
            // Erased before it is drawn: behind a line as wide as the screen, erasing would take its last character.
            text += "\u{1B}[\(row + 1);1H\u{1B}[K\(palette.apply(to: line))\u{1B}[0m"
        }
        return Array(text.utf8)
    }

    func resize(columns: Int, rows: Int) -> [UInt8] {
        var resizing = pager
        resizing.resize(columns: columns, rows: rows)
        pager = resizing
        return isShown ? Array("\u{1B}[2J".utf8) + draw() : []
    }

    /// Whether bytes are the next entry, not keys of the pager: a paste, or several characters at once, as from another
    /// program. A key that is held down repeats one character.
    func isEntry(_ bytes: [UInt8]) -> Bool {
        guard !pager.isAsking, !decoder.isWaiting, let first = bytes.first else { return false }
        if bytes.starts(with: "\u{1B}[200~".utf8) { return true }
        guard bytes.count >= 3, first != UInt8(ascii: "/"), first != UInt8(ascii: "?") else { return false }
        return bytes.contains { $0 != first }
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0A).contains($0) || $0 == 0x0D }
    }

    /// Handles bytes from the terminal, up to the first key with an effect.
    func feed(_ bytes: [UInt8]) -> Pager.Effect { press(decoder.decode(bytes)) }

    func flush() -> Pager.Effect { press(decoder.flush()) }

    /// Searches further lines.
    ///
    /// - Returns: the bytes that draw the result or the progress.
    func searchOn() -> [UInt8] {
        var searching = pager
        let isChanged = searching.searchOn()
        pager = searching
        return isChanged ? draw() : []
    }

    /// Stops a search; false if there is none.
    func stopSearch() -> Bool { pager.stopSearch() }

    private func press(_ keys: [EditorKey]) -> Pager.Effect {
        var pressing = pager
        defer { pager = pressing }
        for key in keys {
            let effect = pressing.press(key)
            if effect != .none { return effect }
        }
        return .none
    }
}
