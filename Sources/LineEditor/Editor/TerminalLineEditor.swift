@_exported import Wording

/// An editor for a line or a block of lines on a terminal.
///
/// Performs no input and output: the host's event loop feeds bytes and performs the outcomes.
/// ```swift
/// let editor = TerminalLineEditor(renderer: TerminalRenderer(columns: 80, rows: 24, palette: .standard))
/// perform(editor.begin(prompt: "> "))
/// // when the terminal is readable:
/// perform(editor.feed(bytes))
/// // when nothing came for 40 ms and editor.isWaiting:
/// perform(editor.flush())
/// ```
/// One thread at a time uses an editor. The closures of ``services`` may not call it.
public final class TerminalLineEditor {
    /// The host's language services.
    public var services: EditorServices
    /// The editor's options.
    public var options: EditorOptions
    /// The entries for recall and search. Submitted entries are added.
    public var history: EditorHistory

    /// The text being edited.
    package internal(set) var buffer = EditBuffer()
    /// Whether a line is being edited, from `begin` until its submission or the end of input.
    package private(set) var isActive = false
    /// Whether ``suspendDisplay()`` has hidden the line.
    package private(set) var isDisplaySuspended = false

    var renderer: TerminalRenderer
    /// The prompts of the first line and of all others.
    var prompts: (first: StyledText, further: StyledText) = ("> ", "")
    var outcomes: [EditorOutcome] = []
    var completion = CompletionState()
    var recall = RecallState()

    private var decoder = KeyDecoder()
    private var queue: [EditorKey] = []
    private var queueHead = 0
    private var derived = DerivedText()

    /// - Parameters:
    ///   - renderer: the terminal's size and the palette.
    ///   - services: the host's language services.
    ///   - history: the entries of earlier sessions.
    ///   - options: key bindings and behaviour.
    public init(
        renderer: TerminalRenderer = TerminalRenderer(), services: EditorServices = EditorServices(),
        history: EditorHistory = EditorHistory(),
        options: EditorOptions = EditorOptions()
    ) {
        self.renderer = renderer
        self.services = services
        self.history = history
        self.options = options
    }

    /// The palette, effective from the next drawing.
    package var palette: TerminalPalette {
        get { renderer.palette }
        set { renderer.palette = newValue }
    }

    // MARK: A line's life

    /// Begins a line. Keys received since the last submission are applied at once.
    ///
    /// - Parameters:
    ///   - prompt: the prompt of the first line; may have several lines.
    ///   - continuation: the prompt of all other lines.
    ///   - text: the initial text.
    /// - Returns: the outcomes to perform.
    public func begin(prompt: StyledText, continuation: StyledText = "", text: String = "") -> [EditorOutcome] {
        prompts = (prompt, continuation)
        leaveModes()
        buffer.reset(to: text)
        isActive = true
        isDisplaySuspended = false
        renderer.forget()
        if options.marksUnfinishedLine { emit(freshLine()) }
        return process(redrawing: true)
    }

    /// Processes bytes from the terminal.
    public func feed(_ bytes: some Sequence<UInt8>) -> [EditorOutcome] {
        queue += decoder.decode(bytes)
        return process(redrawing: false)
    }

    /// Processes pending bytes as a key, to distinguish Escape from the start of an escape sequence.
    public func flush() -> [EditorOutcome] {
        queue += decoder.flush()
        return process(redrawing: false)
    }

    /// Processes one key.
    package func press(_ key: EditorKey) -> [EditorOutcome] {
        queue.append(key)
        return process(redrawing: false)
    }

    /// Sets the terminal's new size and redraws.
    public func resize(columns: Int, rows: Int) -> [EditorOutcome] {
        let bytes = renderer.resize(columns: columns, rows: rows)
        guard isVisible, !bytes.isEmpty else { return [] }
        emit(bytes)
        return process(redrawing: true)
    }

    /// The bytes that show an output above the line and redraw the line below it.
    ///
    /// Line breaks get the carriage return of raw mode, and an unfinished last line is ended. While no line is visible,
    /// the output is returned unchanged.
    public func interruptedBy(output: some Sequence<UInt8>) -> [EditorOutcome] {
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

    /// Leaves the line on the screen and moves the cursor below it, so that other programs can use the terminal. Keys
    /// are still processed; drawing resumes at ``resumeDisplay()``.
    public func suspendDisplay() -> [EditorOutcome] {
        if isVisible { leaveDisplay() }
        isDisplaySuspended = true
        return takeOutcomes()
    }

    /// Redraws the line at the cursor.
    public func resumeDisplay() -> [EditorOutcome] {
        guard isDisplaySuspended else { return [] }
        isDisplaySuspended = false
        renderer.forget()
        guard isActive else { return [] }
        if options.marksUnfinishedLine { emit(freshLine()) }
        return process(redrawing: true)
    }

    /// Ends the line without running it and moves the cursor below.
    package func abandon() -> [EditorOutcome] {
        guard isActive else { return [] }
        leaveModes()
        if !isDisplaySuspended { leaveDisplay() }
        isActive = false
        return takeOutcomes()
    }

    /// Completes with candidates that were requested by ``EditorServices/requestCandidates``.
    ///
    /// Those of a request that was cancelled are dropped: the text or the cursor has changed since.
    ///
    /// - Parameters:
    ///   - result: the candidates; without any, the request is over.
    ///   - request: the request that they answer.
    /// - Returns: the outcomes to perform.
    public func offer(_ result: CompletionResult, for request: CompletionRequest) -> [EditorOutcome] {
        guard let awaited = completion.awaited, awaited.request == request else { return [] }
        (completion.awaited, completion.isAwaiting) = (nil, false)
        guard isVisible else { return process(redrawing: false) }
        if awaited.isRefinement { refineMenu(with: result) } else { complete(with: result) }
        return process(redrawing: true)
    }

    /// Handles the keys that wait for candidates.
    package func resume() -> [EditorOutcome] {
        completion.isAwaiting = false
        return process(redrawing: false)
    }

    // MARK: Inside

    func emit(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if case .write(let earlier)? = outcomes.last {
            outcomes[outcomes.count - 1] = .write(earlier + bytes)
        } else {
            outcomes.append(.write(bytes))
        }
    }

    func leaveModes() {
        cancelRequest()
        completion.menu = nil
        recall.leave()
    }

    /// Ends the line: erases menus and suggestion and moves the cursor to the row below.
    func finish(_ outcome: EditorOutcome, margin: StyledText = "") {
        leaveModes()
        if !isDisplaySuspended { leaveDisplay(margin: margin) }
        isActive = false
        outcomes.append(outcome)
    }

    func leaveDisplay(mark: String = "", margin: StyledText = "") {
        var scene = Scene(prompt: prompts.first, continuationPrompt: prompts.further, buffer: buffer)
        scene.spans = derived.spans(of: buffer, services)
        scene.suggestion = mark
        scene.margin = margin
        emit(renderer.leave(scene))
    }

    func markSuspended() {
        leaveDisplay(mark: "^Z")
        isDisplaySuspended = true
    }

    /// Clears the screen and redraws from its top.
    func clearScreen() {
        renderer.forget()
        emit(Array("\u{1B}[H\u{1B}[2J".utf8))
    }

    /// The suggestion for the current text; nil if none is shown.
    var suggestion: String? {
        guard isVisible, completion.menu == nil, recall.search == nil, buffer.isAtEnd, !palette[.suggestion].isEmpty
        else { return nil }
        return derived.suggestion(of: buffer, services, options.showsSuggestions ? history : nil)
    }

    /// Drops the keys that wait; answers of the terminal are kept.
    func dropKeys() {
        queue = queue[queueHead...].filter { if case .report = $0 { true } else { false } }
        queueHead = 0
        decoder = KeyDecoder()
    }

    private func process(redrawing: Bool) -> [EditorOutcome] {
        var isStale = redrawing
        while isActive, !completion.isAwaiting, queueHead < queue.count {
            let key = queue[queueHead]
            queueHead += 1
            handle(key)
            cancelStaleRequest()
            isStale = true
        }
        if queueHead > 0 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
        if isStale, isVisible { emit(renderer.render(scene())) }
        return takeOutcomes()
    }

    private func takeOutcomes() -> [EditorOutcome] {
        defer { outcomes = [] }
        return outcomes
    }

    private func scene() -> Scene {
        if let search = recall.search { return searchScene(search) }
        var scene = Scene(prompt: prompts.first, continuationPrompt: prompts.further, buffer: buffer)
        let spans = derived.spans(of: buffer, services)
        scene.spans =
            spans + BracketMatcher.spans(in: derived.text(of: buffer), cursor: buffer.utf8Cursor, styled: spans)
        if let suggestion {
            let lines = suggestion.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            scene.suggestion = String(lines.first ?? "") + (lines.count > 1 ? " …" : "")
        }
        if completion.menu != nil {
            let height = min(options.menuHeight, max(1, renderer.rows - 2))
            scene.below = completion.menu?.lines(height: height, columns: renderer.columns) ?? []
        }
        return scene
    }

    private func searchScene(_ search: HistorySearch) -> Scene {
        var shown = search.original
        var spans: [StyledSpan] = []
        if let match = search.match, let entry = history.entries.indices.contains(match.index) ? match.index : nil {
            let text = history.entries[entry]
            shown = EditBuffer(text)
            shown.moveCursor(to: shown.position(ofUTF8: match.range.lowerBound))
            spans = services.highlight(text) + [StyledSpan(match.range, .searchMatch)]
        }
        var status = StyledText("search: ", .searchPrompt)
        status.append(search.query)
        if search.hasFailed { status.append("  (not found)", .notice) }
        return Scene(
            prompt: prompts.first, continuationPrompt: prompts.further, buffer: shown, spans: spans, below: [status])
    }

    /// If the cursor is not in the first column, a mark and a line break; else nothing visible.
    ///
    /// The mark and a row's width of blanks reach the next row only if they did not begin at the margin.
    private func freshLine() -> [UInt8] {
        let blanks = String(repeating: " ", count: renderer.columns - 1)
        return Array((palette.apply(.dimmed, to: "⏎") + blanks + "\r").utf8)
    }
}

/// What an editor is doing.
extension TerminalLineEditor {
    /// Whether pending bytes may already be a key; call ``flush()`` when no more come for 25 to 50 ms.
    public var isWaiting: Bool { decoder.isWaiting }

    /// Whether further keys wait for Tab's candidates; call ``resume()`` if none arrive.
    package var isAwaitingCandidates: Bool { completion.isAwaiting }

    /// Whether the line is visible.
    var isVisible: Bool { isActive && !isDisplaySuspended }

    /// Whether further keys are queued: an unbracketed paste, a script that types.
    var hasMoreKeys: Bool { queueHead < queue.count }
}

/// The editor's options that do not depend on a language.
public struct EditorOptions: Sendable {
    /// The key bindings.
    package var keys = KeyMap.emacs
    /// Tab's indentation in columns.
    package var indentWidth = 2
    /// Maximum number of lines of the completion menu.
    package var menuHeight = 8
    /// Whether the newest history entry with the text as its prefix is suggested behind it.
    public var showsSuggestions = true
    /// Whether `begin` moves the prompt to a line of its own when the output before it ends without a line break.
    package var marksUnfinishedLine = true
    /// Prompts that are removed from a paste, besides the editor's own: those of other programs in the same language.
    public var pastedPrompts: [String] = []
    /// Prompts of further lines that are removed from a paste, besides the editor's own.
    public var pastedContinuations: [String] = []
    /// Whether further keys wait for requested candidates, until they are there or `resume()` is called.
    package var waitsForCandidates = false

    /// Creates the usual options.
    public init() {}
}

/// The host's services for the edited language. The defaults assume no language.
///
/// They are called on the thread that feeds the editor, between a key and its echo, and should take a few milliseconds
/// at most.
public struct EditorServices {
    /// Whether Enter runs the text or begins another line. Also called with the text before the cursor, to indent.
    public var completeness: (_ text: String) -> InputCompleteness = { _ in .complete }
    /// The styles of the text.
    public var highlight: (_ text: String) -> [StyledSpan] = { _ in [] }
    /// The candidates at a cursor, an offset in UTF-8 bytes; nil or empty without any.
    public var complete: (_ text: String, _ cursor: Int) -> CompletionResult? = { _, _ in nil }
    /// Requests candidates where ``complete`` has nil, from another process or a task;
    /// ``TerminalLineEditor/offer(_:for:)`` takes them when they are there.
    public var requestCandidates: ((CompletionRequest) -> Void)?
    /// Called for a request whose candidates are not wanted any more: the text or the cursor has changed, or the line is
    /// over.
    public var cancelCandidates: ((CompletionRequest) -> Void)?
    /// The indentation of a line in columns, given all the text before it; nil to leave it.
    ///
    /// Called after a character that may end a block; indentation is only ever reduced.
    public var indentation: ((_ before: String, _ line: String) -> Int?)?
    /// The suggestion behind the text. By default the newest history entry with the text as its prefix.
    public var suggest: ((_ text: String) -> String?)?

    /// The text at the right margin of a submitted entry's first line, if there is room: its number.
    package var margin: (_ text: String) -> StyledText = { _ in "" }

    /// Creates services that do nothing.
    public init() {}
}

/// Whether a text is a complete chunk.
public enum InputCompleteness: Hashable, Sendable {
    /// The text can run.
    case complete
    /// More lines must follow; the next line is indented by this many columns.
    case incomplete(indent: Int)
    /// No continuation can make it valid: running it reports the error.
    case invalid
}

/// An action for the host after input, in order.
public enum EditorOutcome: Hashable, Sendable {
    /// Write these bytes to the terminal.
    case write([UInt8])
    /// Run this text. The editor is idle until the next `begin` and queues keys.
    case submitted(String)
    /// Control-C: the line was cleared and a new prompt drawn.
    case interrupt
    /// Control-D on an empty line. The editor is idle.
    case endOfInput
    /// Control-Z: the display was suspended; stop the process, and call `resumeDisplay` when it continues.
    case suspend
    /// The terminal's window gained or lost the focus.
    case focus(Bool)
    /// The terminal answered a query of the host.
    case report(TerminalReport)
}

/// Values derived from the text, cached until the text changes.
struct DerivedText {
    private var revision = -1
    private var text = ""
    private var spans: [StyledSpan]?
    private var suggestion: (text: String?, isKnown: Bool) = (nil, false)

    mutating func text(of buffer: EditBuffer) -> String {
        update(buffer)
        return text
    }

    mutating func spans(of buffer: EditBuffer, _ services: EditorServices) -> [StyledSpan] {
        update(buffer)
        if let spans { return spans }
        let new = buffer.isEmpty ? [] : services.highlight(text)
        spans = new
        return new
    }

    /// The suggestion for the text; nil for a blank one.
    mutating func suggestion(of buffer: EditBuffer, _ services: EditorServices, _ history: EditorHistory?) -> String? {
        update(buffer)
        if suggestion.isKnown { return suggestion.text }
        var found: String?
        if !text.allSatisfy(\.isWhitespace) {
            if let suggest = services.suggest {
                found = suggest(text)
            } else if let history, let index = history.newest(withPrefix: text) {
                found = String(decoding: history.entries[index].utf8.dropFirst(text.utf8.count), as: UTF8.self)
            }
        }
        if found?.isEmpty ?? false { found = nil }
        suggestion = (found, true)
        return found
    }

    private mutating func update(_ buffer: EditBuffer) {
        guard revision != buffer.revision else { return }
        revision = buffer.revision
        text = buffer.text
        spans = nil
        suggestion = (nil, false)
    }
}
