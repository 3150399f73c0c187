/// An editor for a line or a block of lines on a terminal.
///
/// It reads and writes nothing itself: the host's event loop feeds it bytes and does what the outcomes say.
/// ```swift
/// let editor = LineEditor(renderer: Renderer(columns: 80, rows: 24, palette: .standard))
/// perform(editor.begin(prompt: "> "))
/// // when the terminal is readable:
/// perform(editor.feed(bytes))
/// // when nothing came for 40 ms and editor.isWaiting:
/// perform(editor.flush())
/// ```
/// One thread at a time uses an editor. The closures of ``services`` may not call it.
public final class LineEditor {
    /// What the host knows of the language.
    public var services: EditorServices
    public var options: EditorOptions
    /// The entries that Up recalls and searches find. What is submitted is added.
    public var history: History

    /// The text being edited.
    public internal(set) var buffer = EditBuffer()
    /// Whether a line is being edited, from `begin` to its submission or the end of input.
    public private(set) var isActive = false
    /// Whether the display was left by ``suspendDisplay()``.
    public private(set) var isDisplaySuspended = false

    var renderer: Renderer
    var prompt: StyledText = "> "
    var continuationPrompt: StyledText = ""
    var outcomes: [Outcome] = []

    var menu: CompletionMenu?
    /// What the menu's selection replaces, as long as none is selected.
    var menuRange = 0..<0
    var search: HistorySearch?
    var lastQuery = ""
    var walk: HistoryWalk?
    /// The buffer's revision when an entry was recalled: unchanged, Enter runs it wherever the cursor is.
    var recalledRevision: Int?

    private var decoder = KeyDecoder()
    private var queue: [Key] = []
    private var queueHead = 0
    private var derived = DerivedText()

    /// - Parameters:
    ///   - renderer: the size of the terminal and how styles look.
    ///   - services: what the host knows of the language.
    ///   - history: the entries of earlier sessions.
    ///   - options: keys and behaviour.
    public init(
        renderer: Renderer = Renderer(), services: EditorServices = EditorServices(), history: History = History(),
        options: EditorOptions = EditorOptions()
    ) {
        self.renderer = renderer
        self.services = services
        self.history = history
        self.options = options
    }

    /// How styles look, from the next drawing on.
    public var palette: Palette {
        get { renderer.palette }
        set { renderer.palette = newValue }
    }

    /// The columns of the terminal.
    public var columns: Int { renderer.columns }

    /// The rows of the terminal.
    public var rows: Int { renderer.rows }

    // MARK: A line's life

    /// Begins a line. Keys that came since the last one was submitted are typed into it at once.
    ///
    /// - Parameters:
    ///   - prompt: what stands before the first line; a line break in it makes it several lines high.
    ///   - continuation: what stands before every other line.
    ///   - text: what the line holds already.
    /// - Returns: what the host has to do.
    public func begin(prompt: StyledText, continuation: StyledText = "", text: String = "") -> [Outcome] {
        self.prompt = prompt
        continuationPrompt = continuation
        leaveModes()
        buffer.reset(to: text)
        isActive = true
        isDisplaySuspended = false
        renderer.forget()
        if options.marksUnfinishedLine { emit(freshLine()) }
        return process(redrawing: true)
    }

    /// Takes bytes from the terminal.
    public func feed(_ bytes: some Sequence<UInt8>) -> [Outcome] {
        queue += decoder.decode(bytes)
        return process(redrawing: false)
    }

    /// Whether bytes wait that may be a key already; call ``flush()`` when no more come for 25 to 50 ms.
    public var isWaiting: Bool { decoder.isWaiting }

    /// Takes what waits as a key: that's how Escape is told from the beginning of another key.
    public func flush() -> [Outcome] {
        queue += decoder.flush()
        return process(redrawing: false)
    }

    /// Takes one key, as if it had been typed.
    public func press(_ key: Key) -> [Outcome] {
        queue.append(key)
        return process(redrawing: false)
    }

    /// Takes the terminal's new size and draws anew.
    public func resize(columns: Int, rows: Int) -> [Outcome] {
        let bytes = renderer.resize(columns: columns, rows: rows)
        guard isVisible, !bytes.isEmpty else { return [] }
        emit(bytes)
        return process(redrawing: true)
    }

    /// Changes the prompt of the line being edited.
    public func setPrompt(_ prompt: StyledText) -> [Outcome] {
        guard prompt != self.prompt else { return [] }
        self.prompt = prompt
        return process(redrawing: true)
    }

    /// Bytes that show an output above the line, which is drawn again below it.
    ///
    /// Line breaks get the return that a raw terminal needs, and an output that doesn't end a line has it ended. While no
    /// line is shown the output comes back as it is.
    public func interruptedBy(output: some Sequence<UInt8>) -> [Outcome] {
        guard isVisible else { return [.write(Array(output))] }
        var bytes = renderer.erase()
        var last: UInt8 = 0x0A
        for byte in output {
            if byte == 0x0A, last != 0x0D { bytes.append(0x0D) }
            bytes.append(byte)
            last = byte
        }
        if last != 0x0A { bytes += [0x0D, 0x0A] }
        emit(bytes)
        return process(redrawing: true)
    }

    /// Leaves the line as it stands and the cursor below it, so that something else can use the terminal.
    /// Keys go on being taken, but nothing is drawn until ``resumeDisplay()``.
    public func suspendDisplay() -> [Outcome] {
        if isVisible { leaveDisplay() }
        isDisplaySuspended = true
        return takeOutcomes()
    }

    /// Draws the line again, at the cursor.
    public func resumeDisplay() -> [Outcome] {
        guard isDisplaySuspended else { return [] }
        isDisplaySuspended = false
        renderer.forget()
        guard isActive else { return [] }
        if options.marksUnfinishedLine { emit(freshLine()) }
        return process(redrawing: true)
    }

    /// Puts a text in the place of what is typed: an entry that was edited elsewhere.
    public func setText(_ text: String) -> [Outcome] {
        leaveModes()
        buffer.setText(text)
        return process(redrawing: true)
    }

    /// Gives the line up without running it and leaves the cursor below.
    public func abandon() -> [Outcome] {
        guard isActive else { return [] }
        leaveModes()
        if !isDisplaySuspended { leaveDisplay() }
        isActive = false
        return takeOutcomes()
    }

    // MARK: Inside

    /// Whether the line is on the screen.
    var isVisible: Bool { isActive && !isDisplaySuspended }

    /// Whether more keys have come already: a paste without brackets, a script that types.
    var hasMoreKeys: Bool { queueHead < queue.count }

    func emit(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if case .write(let earlier)? = outcomes.last {
            outcomes[outcomes.count - 1] = .write(earlier + bytes)
        } else {
            outcomes.append(.write(bytes))
        }
    }

    func leaveModes() {
        menu = nil
        search = nil
        walk = nil
        recalledRevision = nil
    }

    /// Ends the line: what was shown beside the text goes, the cursor to the row below.
    func finish(_ outcome: Outcome) {
        leaveModes()
        if !isDisplaySuspended { leaveDisplay() }
        isActive = false
        outcomes.append(outcome)
    }

    func leaveDisplay(mark: String = "") {
        var scene = Scene(prompt: prompt, continuationPrompt: continuationPrompt, buffer: buffer)
        scene.spans = derived.spans(of: buffer, services)
        scene.suggestion = mark
        emit(renderer.leave(scene))
    }

    func markSuspended() {
        leaveDisplay(mark: "^Z")
        isDisplaySuspended = true
    }

    /// Forgets what is on the screen, which is drawn anew from its top.
    func clearScreen() {
        renderer.forget()
        emit(Array("\u{1B}[H\u{1B}[2J".utf8))
    }

    /// The suggestion for the text as it is now, nil if none is shown.
    var suggestion: String? {
        guard isVisible, menu == nil, search == nil, buffer.isAtEnd, !palette[.suggestion].isEmpty else { return nil }
        return derived.suggestion(of: buffer, services, options.showsSuggestions ? history : nil)
    }

    private func process(redrawing: Bool) -> [Outcome] {
        var isStale = redrawing
        while isActive, queueHead < queue.count {
            let key = queue[queueHead]
            queueHead += 1
            handle(key)
            isStale = true
        }
        if queueHead > 0 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
        if isStale, isVisible { emit(renderer.render(scene())) }
        return takeOutcomes()
    }

    private func takeOutcomes() -> [Outcome] {
        defer { outcomes = [] }
        return outcomes
    }

    private func scene() -> Scene {
        if let search { return searchScene(search) }
        var scene = Scene(prompt: prompt, continuationPrompt: continuationPrompt, buffer: buffer)
        let spans = derived.spans(of: buffer, services)
        scene.spans =
            spans + BracketMatcher.spans(in: derived.text(of: buffer), cursor: buffer.utf8Cursor, styled: spans)
        if let suggestion {
            let lines = suggestion.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            scene.suggestion = String(lines.first ?? "") + (lines.count > 1 ? " …" : "")
        }
        if menu != nil {
            let height = min(options.menuHeight, max(1, renderer.rows - 2))
            scene.below = menu?.lines(height: height, columns: renderer.columns) ?? []
        }
        return scene
    }

    private func searchScene(_ search: HistorySearch) -> Scene {
        var shown = search.original
        var spans: [Span] = []
        if let match = search.match, let entry = history.entries.indices.contains(match.index) ? match.index : nil {
            let text = history.entries[entry]
            shown = EditBuffer(text)
            shown.moveCursor(to: shown.position(ofUTF8: match.range.lowerBound))
            spans = services.highlight(text) + [Span(match.range, .searchMatch)]
        }
        var status = StyledText("search: ", .searchPrompt)
        status.append(search.query)
        if search.hasFailed { status.append("  (not found)", .notice) }
        return Scene(
            prompt: prompt, continuationPrompt: continuationPrompt, buffer: shown, spans: spans, below: [status])
    }

    /// If the cursor isn't in the first column, a mark and a new line; else nothing that can be seen.
    ///
    /// The mark and as many blanks as fill a row come to the next row only if they did not begin at the margin.
    private func freshLine() -> [UInt8] {
        let blanks = String(repeating: " ", count: renderer.columns - 1)
        return Array((palette.apply(.dimmed, to: "⏎") + blanks + "\r").utf8)
    }
}
