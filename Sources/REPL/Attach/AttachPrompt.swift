import Application
import Files
import Glibc
import LineEditor
import Lua
import Scripting

/// The prompt of `cubby attach`: reads entries, sends them to the host, and shows the results.
final class AttachPrompt: ConsoleOwner {
    /// Seconds that keys after Tab wait for the host's candidates: a busy host must not block typing.
    private static let candidatesPatience = 0.2

    let channel: Channel
    private(set) lazy var console = makeConsole()
    let settings: PromptSettings
    let signals: SignalSource
    var shared: AttachScreen
    /// Whether a pager of the host has the terminal.
    var isPaging = false
    var isRunningEntry = false
    private var beginsAgain = false
    var hasFailed = false
    /// Lines read from a file or a pipe while an entry ran.
    var waiting: [String] = []
    var isAtEnd = false
    var status: Int32?
    private let loop: EventLoop
    private let container: ApplicationContainer
    private let look: () -> HostSilence
    /// Seconds after which it gives up a suspended host; nil: never.
    private let timeout: Double?
    /// Since when an entry waits for a suspended host.
    private var suspendedSince: MonotonicTime?
    /// Whether the message about a suspended host was shown.
    private var hasReportedSuspension = false
    /// Checks entries for completeness; nothing runs in it.
    private let state: LuaState
    /// Tells whether entries of SQL are whole.
    private let sql = SQLGrammar()
    /// The number of the next Lua entry.
    private var nextNumber = 1
    /// The names of the host's globals.
    private var names: Set<String> = []
    /// The number of the latest question for candidates.
    private var lastQuestion = 0
    /// The request that it asks for.
    private var request: CompletionRequest?
    private var answers: LoopWatch?
    private var input: LoopWatch?
    private var candidatesTimer: LoopTimer?
    /// Whether an entry of the script on standard input failed.
    private var hasFailedEntry = false

    /// - Throws: `LuaError` for lack of memory.
    init(
        _ channel: Channel, to container: ApplicationContainer, loop: EventLoop, screen: AttachScreen,
        timeout: Double?, signals: SignalSource, look: @escaping () -> HostSilence
    ) throws(LuaError) {
        self.channel = channel
        self.timeout = timeout
        self.signals = signals
        self.loop = loop
        self.look = look
        self.container = container
        shared = screen
        state = try LuaState()
        settings = PromptSettings(
            allowed: TerminalPalette.appropriate(isTerminal: screen.isTerminal, environment: ProcessEnvironment.value),
            environment: ProcessEnvironment.value)
        console.lines.services = services
        settings.onChange = { [unowned self] in
            let editor = console.lines.editor
            editor.palette = palette
            if isEditing, console.mode.isEntered, !console.pager.isOpen, !isPaging {
                perform(editor.interruptedBy(output: []))
            }
        }
    }

    private func makeConsole() -> Console {
        let files: any FileLayer = (try? BeneathFileLayer(container.path)) ?? PosixFileLayer()
        return Console(of: self, loop: loop, container: container, files: files) { file in
            let history = shared.isEditing ? (try? file.load()) ?? EditorHistory() : EditorHistory()
            return LineInput(isEditing: shared.isEditing, size: shared.size, palette: palette, history: history)
        }
    }

    deinit { state.close() }

    private var services: EditorServices {
        var services = EditorServices()
        services.completeness = { [state, sql] in Evaluator.completeness(of: $0, in: state, sql.connection) }
        services.indentation = { before, line in BlockDepth.indentation(ofClosing: line, after: before) }
        // Files are completed here, everything else by the host.
        services.complete = { FileCompletion().result($0, cursor: $1) }
        services.requestCandidates = { [unowned self] request in
            lastQuestion += 1
            self.request = request
            candidatesTimer?.cancel()
            candidatesTimer = loop.after(Self.candidatesPatience) { [unowned self] in
                if console.lines.editor.isAwaitingCandidates { perform(console.lines.editor.resume()) }
            }
            guard request.text.utf8.count <= AttachQuestion.textLimit else { return }
            let question = AttachQuestion(number: lastQuestion, text: request.text, cursor: request.cursor)
            channel.send(AttachMessage(.question, question.json))
        }
        services.margin = { [unowned self] text in
            console.margin(of: text, number: nextNumber) { names.contains($0) }
        }
        guard !palette.isEmpty else { return services }
        services.highlight = { [unowned self] text in
            EntryHighlighter.spans(text, in: state) { names.contains($0) }
        }
        return services
    }

    /// Serves the prompt until Ctrl-D or the host's end.
    ///
    /// - Returns: the exit status.
    func run() -> Int32 {
        answers = loop.watch(channel.socket.descriptor) { [unowned self] _ in answered() }
        let looks = loop.every(AttachClient.patience) { [unowned self] in if isRunningEntry { reportSuspension() } }
        input = loop.watch(StandardDescriptor.input) { [unowned self] _ in readable() }
        loop.onSignal = { [unowned self] in received($0) }
        console.restoreAfterCrash()
        begin()
        loop.run(until: { status != nil })
        leaveEditing()
        answers?.cancel()
        input?.cancel()
        looks.cancel()
        return status ?? AttachClient.Status.done
    }

    private func received(_ signal: UnixSignal) {
        switch signal {
        case .interrupt: interrupt()
        case .terminate, .hangUp: status = AttachClient.Status.done
        case .stop: suspend()
        case .windowChange: resized()
        default: break
        }
    }

    // MARK: Entries

    /// The exit status of a script of entries; at a terminal the user has seen the errors.
    var statusAtEnd: Int32 {
        hasFailedEntry && !console.isInputTerminal ? AttachClient.Status.failed : AttachClient.Status.done
    }

    func ended() {
        isRunningEntry = false
        if !waiting.isEmpty { return send(waiting.removeFirst()) }
        if isAtEnd {
            status = statusAtEnd
            return
        }
        begin()
    }

    func begin() {
        stopInBackground()
        input?.events = .readable
        let (prompt, continuation) = (StyledText("attached> ", .prompt), StyledText("… ", .continuationPrompt))
        if isEditing {
            try? console.mode.enter()
            if !palette.isEmpty { console.askTerminal() }
            console.beginLine(prompt: prompt, continuation: continuation)
        } else if console.isInputTerminal {
            perform(console.lines.begin(prompt: prompt, continuation: continuation))
        } else if !console.lines.isActive {
            perform(console.lines.begin(prompt: "", continuation: ""))
        }
    }

    func submitted(_ text: String) {
        if isRunningEntry { return waiting.append(text) }
        if isEditing {
            waitWithKeys()
            if text.trimmed.isEmpty { return beginAgain() }
            console.remember(text)
        }
        send(text)
    }

    /// Begins the line after a blank one: keys may have come for many of them.
    private func beginAgain() {
        if beginsAgain { return }
        beginsAgain = true
        defer { beginsAgain = false }
        repeat { begin() } while !console.lines.isActive && !isRunningEntry && status == nil
    }

    func send(_ text: String) {
        // The signal of a new size may arrive after the keys.
        resized()
        isRunningEntry = true
        console.isInterrupted = false
        // Reading pauses until everything is sent: a long file is not buffered.
        input?.events = []
        channel.send(AttachMessage(.entry, text))
        // The next lines of a file or a pipe may be buffered already.
        if !console.isInputTerminal, !isAtEnd { perform(console.lines.begin(prompt: "", continuation: "")) }
    }

    func interrupt() {
        if isPaging, !hasReportedSuspension { return channel.send(AttachMessage(.keys, [0x03])) }
        if isRunningEntry {
            // A suspended host would not receive it.
            if hasReportedSuspension { return status = AttachClient.Status.interrupted }
            console.isInterrupted = true
            channel.send(AttachMessage(.interrupt))
        } else {
            perform(console.lines.interrupt())
        }
    }
}

/// Handles messages from the host.
extension AttachPrompt {
    func answered() {
        let isThere = channel.receive()
        do {
            while status == nil, let message = try channel.message() { take(message) }
            if isThere { return }
        } catch {}
        leaveEditing()
        AttachClient.put(Array("\nThe host has ended.\n".utf8), toStandardError: true)
        status = status ?? (isRunningEntry ? AttachClient.Status.lost : AttachClient.Status.done)
    }

    /// The host has escaped the data in an entry's output; everything else is escaped here.
    private func take(_ message: AttachMessage) {
        hasReportedSuspension = false
        suspendedSince = nil
        switch message.kind {
        case .output: show(message.bytes)
        case .errors: show(message.bytes, toStandardError: true)
        // The following messages wait while the user reads the page.
        case .page: pausing { page(PrintedValues(message.text)) }
        case .pager: drawPager(message.bytes)
        case .pagerEnd:
            isPaging = false
            console.typeAhead(message.bytes)
            waitWithKeys()
        case .request: pausing { answer(message.bytes) }
        case .candidates:
            guard let found = AttachCandidates(json: message.bytes), found.number == lastQuestion, let request
            else { return }
            perform(console.lines.editor.offer(found.result, for: request))
        case .names: names = Set(message.text.split(separator: "\n").map(String.init))
        case .notice:
            guard !isRunningEntry else { return }
            show(Array((palette.apply(.dimmed, to: VisibleText.line(message.text)) + "\n").utf8))
        case .leave: status = statusAtEnd
        case .done, .failed:
            if message.kind == .failed { hasFailedEntry = true }
            nextNumber = Int(message.text).map { $0 + 1 } ?? nextNumber
            ended()
        default: break
        }
    }

    func show(_ bytes: [UInt8], toStandardError: Bool = false) {
        guard isEditing, console.lines.isActive, console.mode.isEntered else {
            if !AttachClient.put(bytes, toStandardError: toStandardError) { status = AttachClient.Status.lost }
            return
        }
        perform(console.lines.editor.interruptedBy(output: bytes))
    }

    /// Draws a pager of the host; keys go to it from now on.
    private func drawPager(_ bytes: [UInt8]) {
        if !isPaging {
            do { try console.mode.enter() } catch { return channel.send(AttachMessage(.keys, "q")) }
            isPaging = true
            input?.events = .readable
        }
        put(bytes)
    }

    private func pausing(_ body: () -> Void) {
        answers?.events = []
        defer { answers?.events = .readable }
        body()
    }

    private func answer(_ bytes: [UInt8]) {
        guard let request = TerminalRequest(json: bytes) else { return }
        var message = AttachMessage(.answer, console.perform(request).json)
        if message.bytes.count > AttachDecoder.limit {
            complain("\(request.argument) is longer than \(AttachDecoder.limit >> 20) MB")
            message = AttachMessage(.answer, TerminalAnswer(isDone: false).json)
        }
        channel.send(message)
    }

    func reportSuspension() {
        guard timeout != nil || !hasReportedSuspension else { return }
        guard case let silence = look(), silence.isSuspended else { return suspendedSince = nil }
        let start = suspendedSince ?? .now()
        suspendedSince = start
        if let timeout {
            guard start.advanced(by: timeout) <= .now() else { return }
            leaveEditing()
            AttachClient.giveUp(silence, after: timeout)
            status = AttachClient.Status.silent
        } else {
            hasReportedSuspension = true
            AttachClient.say("\(silence.text). Ctrl-C leaves")
        }
    }
}

/// The terminal of an attached prompt.
extension AttachPrompt {
    var screen: TerminalSize { shared.size }
    var screenColumns: Int { screen.columns }
    var palette: TerminalPalette { settings.palette }
    var isEditing: Bool { console.lines.isEditing }
    var isEnding: Bool { status != nil }
    var isLent: Bool { false }

    func waitWithKeys() {
        console.forgetEscape()
        console.holdKeys()
    }

    func lendTerminal() {
        console.forgetEscape()
        console.mode.leave()
    }

    func takeTerminalBack() { waitWithKeys() }

    func turn(timeout: Double?) -> Bool {
        console.loop.runOnce(timeout: timeout)
        return true
    }

    func waitingForUser<Value>(_ body: () -> Value) -> Value { body() }

    func put(_ bytes: [UInt8]) { AttachClient.put(bytes) }

    func draw(_ text: String, toStandardError: Bool) {
        show(Array(text.utf8), toStandardError: toStandardError)
    }

    func page(_ printed: PrintedValues) { console.pager.page(printed) }

    func remains(of printed: PrintedValues) -> String { console.pager.head(of: printed.text) }

    func leaveEditing() {
        console.forgetEscape()
        console.pager.hide()
        if isPaging { put(Array(PagerScreen.leaving.utf8)) }
        console.mode.leave()
    }

    func resized() {
        guard let size = TerminalSize(descriptor: StandardDescriptor.output), size != shared.size else { return }
        shared.size = size
        channel.send(AttachMessage(.screen, shared.json))
        perform(console.lines.resize(size))
        console.pager.resize(columns: size.columns, rows: size.rows)
    }

    func suspend() {
        leaveEditing()
        _ = signals.stop { false }
        // It has nothing to do in the background but to read the terminal.
        stopInBackground()
        resized()
        if console.pager.isOpen { return console.pager.resume() }
        if isPaging {
            try? console.mode.enter()
            return channel.send(AttachMessage(.keys))
        }
        if isRunningEntry { return waitWithKeys() }
        if isEditing { try? console.mode.enter() }
        perform(console.lines.resume())
    }

    /// Stops this process while it is in the background, as a read of the terminal does it.
    func stopInBackground() {
        while console.isInputTerminal, console.jobState == .background {
            let outcome = signals.stop(by: .backgroundRead) { [console] in console.jobState != .background }
            guard outcome == .done else { return }
        }
    }

    func readable() {
        stopInBackground()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(StandardDescriptor.input, &bytes, bytes.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return perform(console.lines.end())
        }
        // Keys can arrive before the signal of a new size; the entry that they end must fit the new size.
        resized()
        if isPaging {
            if bytes[..<count].contains(0x1A) { return suspend() }
            return channel.send(AttachMessage(.keys, Array(bytes[..<count])))
        }
        perform(console.lines.feed(bytes[..<count]))
        console.awaitEscape()
    }

    func perform(_ outcomes: [EditorOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes)
            case .submitted(let text): submitted(text)
            case .endOfInput:
                isAtEnd = true
                if isEditing { put([0x0A]) }
                if !isRunningEntry, waiting.isEmpty { status = statusAtEnd }
            case .suspend: suspend()
            case .report(let report):
                let before = shared.capabilities
                shared.capabilities.take(report)
                if shared.capabilities != before { channel.send(AttachMessage(.screen, shared.json)) }
                if let background = shared.capabilities.background { settings.background = background }
            case .interrupt, .focus: break
            }
        }
    }
}
