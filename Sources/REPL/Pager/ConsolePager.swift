import Application
import CPlatform
import Files
import Glibc
import LineEditor
import Scripting

/// Shows output longer than the screen in a pager: the user's own or the prompt's.
final class ConsolePager {
    private unowned let console: Console
    /// The pager that has the terminal.
    private var screen: PagerScreen?
    /// The entry for the last steps taken in the pager.
    private var entry: String?

    /// - Parameter console: owns the pager.
    init(_ console: Console) { self.console = console }

    private var owner: any ConsoleOwner { console.owner }

    /// Whether a pager has the terminal.
    var isOpen: Bool { screen != nil }

    /// Whether it is on the screen.
    var isShown: Bool { screen?.isShown ?? false }

    /// Shows values from the printer, paged if longer than the screen. The text left on the screen is as long as a
    /// short result.
    func page(_ printed: PrintedValues) {
        var rest = printed.text
        entry = nil
        // While a line is being edited, only the editor reads keys.
        if console.lines.isEditing, owner.isRunningEntry, !owner.isLent, let content = content(of: printed),
            showInPager(content, printed)
        {
            rest = owner.remains(of: printed)
        }
        owner.draw(rest + printed.picture, toStandardError: false)
        if let entry { owner.print(StyledText(entry + "\n", .dimmed)) }
    }

    /// The content for a pager; nil if the output fits on the screen.
    private func content(of printed: PrintedValues) -> (any PagerContent)? {
        if let table = printed.table { return PagerTable(table) }
        let (columns, rows) = (owner.screen.columns, owner.screen.rows)
        guard PagerText.isPageable(printed.text), PagerText.isNeeded(printed.text, rows: rows, columns: columns) else {
            return nil
        }
        return PagerText(printed.text, columns: columns)
    }

    /// The beginning of a text, which stays on the screen.
    func head(of text: String) -> String {
        var lines = PagerText(text, columns: owner.screen.columns)
        let count = lines.count
        let shown = lines.draw(0..<min(count, ValuePrinter.rowLimit(owner.screen.rows)), columns: owner.screen.columns)
        return shown.joined(separator: "\n") + "\n … and \((count - shown.count).counted("more line", "more lines"))\n"
    }

    /// - Returns: false if the content must be drawn by other means.
    private func showInPager(_ content: any PagerContent, _ printed: PrintedValues) -> Bool {
        if let command = ProcessEnvironment.value("PAGER"), !command.isEmpty {
            switch ExternalPager(command).show(printed, in: console) {
            case .shown: return true
            case .failed(let reason): owner.complain("\(reason); the prompt's own pager has it")
            }
        }
        return run(Pager(content, rows: owner.screen.rows, columns: owner.screen.columns))
    }

    /// Serves a pager until it is closed. Events are served meanwhile.
    private func run(_ pager: Pager) -> Bool {
        do { try console.mode.enter() } catch { return false }
        let shown = PagerScreen(pager, palette: owner.palette)
        screen = shown
        defer {
            owner.put(shown.hide())
            (screen, entry) = (nil, shown.entry)
            owner.waitWithKeys()
        }
        owner.put(shown.show())
        owner.waitingForUser { serve(shown) }
        return true
    }

    private func serve(_ shown: PagerScreen) {
        while !owner.isEnding {
            let patience = shown.isSearching ? 0 : shown.isWaiting ? 0.04 : nil
            let input = console.nextInput(within: patience) { !$0.isEmpty }
            let effect: Pager.Effect
            if console.isInterrupted {
                guard shown.stopSearch() else { return }
                effect = .none
            } else if shown.isEntry(input) {
                console.typeAhead(input)
                return
            } else if !input.isEmpty {
                effect = shown.feed(input)
            } else if shown.isSearching {
                owner.put(shown.searchOn())
                continue
            } else if patience != nil {
                effect = shown.flush()
            } else {
                return
            }
            switch effect {
            case .leave: return
            case .suspend: owner.suspend()
            case .none: owner.put(shown.draw())
            }
        }
    }

    /// Shows the pager again after a return to the foreground.
    func resume() {
        guard let screen else { return }
        try? console.mode.enter()
        owner.resized()
        owner.put(screen.show())
    }

    /// Leaves the screen before the process stops.
    func hide() { if let screen { owner.put(screen.hide()) } }

    /// Writes to the terminal's own screen, under the pager.
    func write(_ bytes: [UInt8]) {
        guard let screen else { return }
        owner.put(screen.hide() + bytes)
        owner.put(screen.show())
    }

    func resize(columns: Int, rows: Int) { if let screen { owner.put(screen.resize(columns: columns, rows: rows)) } }
}

/// The program of `$PAGER`, which receives the whole text on its standard input, without colours.
struct ExternalPager {
    enum Result: Equatable {
        case shown
        case failed(String)
    }

    private static let rowsPerPiece = 500
    private let command: String

    init(_ command: String) { self.command = command }

    /// The program and its arguments; run by a shell only if the command needs one.
    var words: [String] {
        let isPlain = command.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || " -_+./:,@".unicodeScalars.contains($0)
        }
        let words = command.split(separator: " ").map(String.init)
        return isPlain && !words.isEmpty ? words : ["/bin/sh", "-c", command]
    }

    /// Shows a text until the program ends. Signals and timers are served meanwhile.
    func show(_ printed: PrintedValues, in console: Console) -> Result {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failed("$PAGER: no pipe") }
        defer { for end in ends where end >= 0 { close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        console.owner.lendTerminal()
        defer { console.owner.takeTerminalBack() }
        let child: ChildProcess
        do { child = try ChildProcess(words, input: ends[0]) } catch {
            return .failed("$PAGER: \(VisibleText.line(command)) could not be started: \(error.message)")
        }
        close(ends[0])
        ends[0] = -1
        let text = Self.pieces(of: printed)
        var piece: ArraySlice<UInt8> = []
        var end: ChildProcess.End?
        // The pipe wakes up the loop as soon as it is writable.
        let writable = console.loop.watch(ends[1], for: .writable) { _ in }
        defer { writable.cancel() }
        while end == nil {
            if piece.isEmpty, ends[1] >= 0 { piece = text.next().map { Array($0.utf8)[...] } ?? [] }
            let written =
                piece.isEmpty ? 0 : piece.withUnsafeBytes { cubby_write_some(ends[1], $0.baseAddress, $0.count) }
            let isFull = written < 0 && errno == EAGAIN
            if written > 0 { piece = piece.dropFirst(Int(written)) }
            // All is written, or the program has closed its input.
            if ends[1] >= 0, written <= 0, !isFull {
                writable.cancel()
                close(ends[1])
                (ends[1], piece) = (-1, [])
            }
            console.loop.runOnce(timeout: 0.02)
            end = child.end(waits: false)
        }
        // A shell's statuses for a program that it cannot run or find.
        guard case .exited(let status) = end, status == 126 || status == 127 else { return .shown }
        return .failed("$PAGER: \(VisibleText.line(command)) could not be started")
    }

    /// The text, or the table with all of its rows and columns.
    static func pieces(of printed: PrintedValues) -> AnyIterator<String> {
        guard var table = printed.table else {
            return AnyIterator([printed.text].map(PagerText.plain).makeIterator())
        }
        var next = 0
        return AnyIterator {
            guard next < table.rows.count else { return nil }
            let shown = next..<min(table.rows.count, next + rowsPerPiece)
            let drawn = table.lines(shown, columns: .max)
            defer { next = shown.upperBound }
            return (next == 0 ? [drawn.title] + drawn.lines : drawn.lines).joined(separator: "\n") + "\n"
        }
    }
}

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
