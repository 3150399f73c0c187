import Application
import Glibc
import Images
import Items
import LineEditor
import Lua
import Scripting

/// The host's side of an attached prompt: runs its entries between the host's other work, and sends it their output.
///
/// The host never waits for the prompt: a waiting entry is a task, a request's answer is an event, and output for a
/// slow prompt is dropped.
final class AttachSession: PromptTerminal, CommitListener {
    /// Seconds within which a connection must send a greeting.
    private static let greetingLimit = 10.0
    /// Maximum size of the globals' names in bytes.
    private static let nameLimit = 64 << 10

    unowned let host: ScriptHost
    private let inbox: AttachInbox
    let channel: Channel
    private var notifier: EventNotifier?
    private var greetingTimer: LoopTimer?
    private(set) lazy var session = PromptSession(
        host, on: self, settings: PromptSettings(allowed: .none) { _ in nil })
    /// The times of changes to items.
    private let sessionChanges = SessionChanges()
    /// The pager that has the prompt's terminal, and the output to show when it is closed.
    var pager: AttachPager?
    var held: [AttachMessage] = []
    /// Whether the entry has ended while its pager is open.
    var isHeld = false
    var screen = AttachScreen(size: TerminalSize(columns: 80, rows: 24), isTerminal: false, isPrompt: false)
    private var sentNames = ""
    /// The running or waiting entry.
    private var entry: ScriptEntry?
    /// Called with the prompt's answer to the entry's request.
    private var awaited: ((TerminalAnswer) -> Void)?
    private var isScheduled = false
    private(set) var isEnded = false
    /// Whether the prompt has shown the key: nothing else is taken before.
    private var isGreeted = false
    private lazy var peerChanges = PeerChanges(host.loop) { [unowned self] text in
        channel.send(AttachMessage(.notice, text))
    }

    init?(_ host: ScriptHost, _ socket: AttachSocket) {
        self.host = host
        inbox = AttachInbox(socket)
        channel = Channel(socket, loop: host.loop)
        let notifier = host.loop.notifier { [weak self] in self?.received() }
        self.notifier = notifier
        guard inbox.start(notifier, host.state.interrupter) else {
            host.loop.forget(notifier)
            return nil
        }
        channel.queue.onDrained = { [weak self] in self?.schedule() }
        channel.queue.onBroken = { [weak self] in self?.end() }
        greetingTimer = host.loop.after(Self.greetingLimit) { [weak self] in
            if let self, inbox.isSilent { end() }
        }
    }

    /// Called for a message, possibly between two instructions of a running script: only an interrupt and the end are
    /// handled now.
    private func received() {
        guard !isEnded else { return }
        if let entry, inbox.isOver || entry.number <= inbox.lastInterrupted { host.cancel(entry) }
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !isEnded else { return }
        isScheduled = true
        host.loop.after(0) { [weak self] in self?.work() }
    }

    /// Handles received messages: queued requests up to the next entry; the following ones wait for its end.
    private func work() {
        isScheduled = false
        if inbox.isClosed { return end() }
        if isGreeted { takeLatest() }
        while !isEnded, entry == nil, channel.isEmpty, host.exitCode == nil, let request = inbox.next() {
            switch request {
            case .hello(let bytes): greet(bytes)
            case .entry(let text, let number):
                // A new size that was sent before this entry may have arrived since.
                takeScreen()
                if number <= inbox.lastInterrupted { refuse(1, "interrupted") } else { begin(text, number) }
            case .overflow(let count):
                refuse(
                    count,
                    "\(count == 1 ? "an entry was" : "\(count) entries were") left out: at most \(AttachInbox.entryLimit) entries, \(AttachInbox.byteLimit >> 20) MB of text, wait for the host"
                )
            case .problem(let problem):
                refuse(0, problem.message)
                end()
            }
        }
    }

    /// Handles the latest of what is not queued.
    private func takeLatest() {
        takeScreen()
        // A prompt that does not read gets no further drawings.
        if let pager, channel.isEmpty, let keys = inbox.takeKeys() { pager.take(keys) }
        if let question = inbox.takeLatest(.question).flatMap(AttachQuestion.init) { complete(question) }
        if let answer = inbox.takeLatest(.answer), let awaited {
            self.awaited = nil
            awaited(TerminalAnswer(json: answer))
        }
    }

    private func greet(_ bytes: [UInt8]) {
        greetingTimer?.cancel()
        let screen = AttachScreen(json: bytes)
        guard let screen, screen.version == AttachMessage.version else {
            let reason = AttachBanner.mismatch(prompt: screen?.version ?? 1, host: AttachMessage.version)
            channel.send(AttachMessage(.denied, reason))
            return end()
        }
        guard host.socket?.key.isShown(by: screen.key) == true else {
            channel.send(.otherKey)
            return end()
        }
        isGreeted = true
        take(screen)
        session.seenFailures = host.handlerFailureCount
        host.addCommitListener(self)
        host.items.addCommitObserver(sessionChanges)
        channel.send(AttachMessage(.banner, AttachBanner(Banner.attached(host)).json))
        sendNames()
    }

    private func takeScreen() {
        if let screen = inbox.takeLatest(.screen).flatMap(AttachScreen.init) { take(screen) }
    }

    private func take(_ screen: AttachScreen) {
        self.screen = screen
        let allowed = TerminalPalette.appropriate(isTerminal: screen.isTerminal, environment: environment)
        session.settings = PromptSettings(allowed: allowed) { screen.environment[$0] }
        if let background = screen.capabilities.background { session.settings.background = background }
        session.printer.columns = screen.size.columns
        session.printer.rows = screen.size.rows
        session.printer.isForTerminal = screen.isTerminal
        session.printer.isWhole = !screen.isTerminal && !screen.isPrompt
        var pictures = TerminalPictures(size: screen.size, hasColors: !palette.isEmpty, environment: environment)
        pictures.capabilities = screen.capabilities
        session.printer.pictures = pictures
        session.printer.isPaged = screen.isEditing
        session.printer.changed = { [sessionChanges] in sessionChanges.date(of: $0) }
        pager?.resize(columns: screen.size.columns, rows: screen.size.rows)
    }

    private func complete(_ question: AttachQuestion) {
        guard question.text.utf8.count <= AttachQuestion.textLimit, channel.isEmpty else { return }
        let none = CompletionResult(replacement: 0..<0, candidates: [])
        let result = session.completer.complete(question.text, question.cursor) ?? none
        channel.send(AttachMessage(.candidates, AttachCandidates(number: question.number, result: result).json))
    }

    /// Sends the names of the globals, to highlight the text being typed.
    private func sendNames() {
        guard screen.isPrompt, !palette.isEmpty else { return }
        var names = ""
        for name in RawAccess.fields(of: host.state.globals, limit: 2000, depth: 1).map(\.name).sorted()
        where LuaName.isValid(name) && names.utf8.count + name.utf8.count < Self.nameLimit { names += name + "\n" }
        guard names != sentNames else { return }
        sentNames = names
        channel.send(AttachMessage(.names, names))
    }

    // MARK: Entries

    /// Answers entries that are not run.
    private func refuse(_ count: Int, _ reason: String) {
        channel.send(AttachMessage(.errors, reason + "\n"))
        for _ in 0..<count { channel.send(AttachMessage(.failed)) }
    }

    private func begin(_ text: String, _ number: Int) {
        entry = ScriptEntry(number: number, frontEnd: self) { [inbox] in
            inbox.isOver || number <= inbox.lastInterrupted
        }
        peerChanges.isQuiet = true
        // A command waits no longer than it was told for a host that does not get to its entry.
        if !screen.isPrompt { channel.send(AttachMessage(.output)) }
        session.perform(entry: text) { [self] in
            if pager == nil { ended() } else { isHeld = true }
        }
    }

    func ended() {
        entry = nil
        guard !isEnded else { return }
        if session.hasFailed, let cause = host.exitCause {
            // The entry itself requested the exit. Any other exit interrupts the entry, and the connection's end says
            // so.
            if cause == .script { channel.send(AttachMessage(.done)) }
            return
        }
        sendNames()
        channel.send(AttachMessage(session.hasFailed ? .failed : .done, String(session.evaluator.count)))
        peerChanges.isQuiet = false
        schedule()
    }

    /// Ends the connection and stops the entry; the reading thread sees the end of the stream.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        greetingTimer?.cancel()
        peerChanges.isQuiet = true
        pager = nil
        session.endTutorial()
        host.removeCommitListener(self)
        host.items.removeCommitObserver(sessionChanges)
        if let notifier { host.loop.forget(notifier) }
        channel.queue.flush()
        channel.socket.end()
        awaited = nil
        if let entry { host.cancel(entry) }
    }

    // MARK: A prompt elsewhere

    var isEditing: Bool { screen.isEditing }
    var reportsChanges: Bool { screen.isPrompt }
    var palette: TerminalPalette { session.settings.palette }

    func environment(_ name: String) -> String? { screen.environment[name] }

    /// Runs a function as a part of the entry. Scripts may define functions that format values: the completion is a
    /// part of the entry, too.
    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        guard let entry else { return completion(.failure(LuaError(.cancelled, "the entry has ended"))) }
        host.begin(function, as: entry) { [host] result in
            host.work(for: entry) { completion(result) }
        }
    }

    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void) {
        let message = AttachMessage(.request, request.json)
        guard message.bytes.count <= AttachDecoder.limit else {
            session.complain("the text is longer than \(AttachDecoder.limit >> 20) MB")
            return then(TerminalAnswer(isDone: false))
        }
        awaited = then
        // An earlier answer does not belong to this request.
        _ = inbox.takeLatest(.answer)
        channel.send(message)
    }

    func leave() { channel.send(AttachMessage(.leave)) }

    func draw(_ text: String, toStandardError: Bool) {
        if !text.isEmpty { send(AttachMessage(toStandardError ? .errors : .output, text)) }
    }

    /// Output waits while a pager has the terminal.
    func send(_ output: AttachMessage) {
        guard !isEnded else { return }
        if pager == nil { channel.send(output: output) } else { held.append(output) }
    }

    // MARK: Commits

    func didCommit(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally, author: (any HostFrontEnd)?) {
        if author === self { return session.changes.add(cause, tally) }
        guard screen.isPrompt, screen.isTerminal else { return }
        peerChanges.add(tally, by: author == nil ? "the host" : "another prompt")
    }
}

/// The front end for the code of an entry.
extension AttachSession {
    var isTerminal: Bool { screen.isTerminal }

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        send(AttachMessage(toStandardError ? .errors : .output, bytes))
        return true
    }
}

/// The pager of a table at an attached prompt. It runs in the host, which has the rows: keys come in, drawings go out.
/// A page of a million rows costs the same as at the host's own prompt.
final class AttachPager {
    private static let interruptKey: [UInt8] = [0x03]
    /// Seconds after which a single escape is a key.
    private static let patience = 0.04

    let screen: PagerScreen
    private let loop: EventLoop
    private let draw: ([UInt8]) -> Void
    private let onEnd: (_ typedAhead: [UInt8]) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - screen: the pager.
    ///   - loop: the thread's loop.
    ///   - draw: writes to the prompt's terminal.
    ///   - onEnd: called when the pager is closed, with input for the next entry.
    init(
        _ screen: PagerScreen, loop: EventLoop, draw: @escaping ([UInt8]) -> Void,
        onEnd: @escaping (_ typedAhead: [UInt8]) -> Void
    ) {
        self.screen = screen
        self.loop = loop
        self.draw = draw
        self.onEnd = onEnd
        draw(screen.show())
    }

    deinit { timer?.cancel() }

    /// Takes input; without bytes, draws the whole screen.
    func take(_ bytes: [UInt8]) {
        timer?.cancel()
        if bytes.isEmpty {
            _ = screen.hide()
            return draw(screen.show())
        }
        if bytes == Self.interruptKey {
            guard screen.stopSearch() else { return end() }
            return perform(.none)
        }
        if screen.isEntry(bytes) { return end(bytes) }
        perform(screen.feed(bytes))
    }

    func resize(columns: Int, rows: Int) { draw(screen.resize(columns: columns, rows: rows)) }

    private func perform(_ effect: Pager.Effect) {
        switch effect {
        case .leave: return end()
        // The prompt suspends itself.
        case .suspend: break
        case .none: draw(screen.draw())
        }
        schedule()
    }

    private func schedule() {
        if screen.isSearching {
            timer = loop.after(0) { [weak self] in
                guard let self else { return }
                draw(screen.searchOn())
                schedule()
            }
        } else if screen.isWaiting {
            timer = loop.after(Self.patience) { [weak self] in
                guard let self else { return }
                perform(screen.flush())
            }
        }
    }

    private func end(_ typedAhead: [UInt8] = []) {
        timer?.cancel()
        draw(screen.hide())
        onEnd(typedAhead)
    }
}

/// Long results at an attached prompt: the prompt pages texts, the host tables.
extension AttachSession {
    func page(_ printed: PrintedValues) {
        if let table = printed.table, isEditing, pager == nil, !isEnded {
            guard environment("PAGER") == nil else { return send(AttachMessage(.page, Self.text(printed))) }
            return open(table, time: printed.time, picture: printed.picture)
        }
        if session.printer.isWhole { return sendWhole(printed.text) }
        if !printed.text.isEmpty { send(AttachMessage(.page, printed.text)) }
        draw(printed.picture, toStandardError: false)
    }

    /// Sends the result of a command's single entry, of which nothing is dropped for a slow reader: it is in memory anyway.
    private func sendWhole(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            channel.send(AttachMessage(.page, Array(rest.prefix(1 << 20))))
            rest = rest.dropFirst(1 << 20)
        }
    }

    private func open(_ table: TableText, time: String, picture: String) {
        let content = Pager(PagerTable(table), rows: session.printer.rows, columns: session.printer.columns)
        pager = AttachPager(
            PagerScreen(content, palette: palette), loop: host.loop,
            draw: { [unowned self] in if !$0.isEmpty { channel.send(AttachMessage(.pager, $0)) } },
            onEnd: { [unowned self] typedAhead in
                channel.send(AttachMessage(.pagerEnd, typedAhead))
                let entry = pager?.screen.entry
                pager = nil
                var table = table
                draw(session.printer.text(&table, time: time) + "\n" + picture, toStandardError: false)
                if let entry { session.print(StyledText(entry + "\n", .dimmed)) }
                for output in held { channel.send(output: output) }
                held = []
                guard isHeld else { return }
                isHeld = false
                ended()
            })
    }

    /// A table's text for the `PAGER` of the prompt, limited in size.
    private static func text(_ printed: PrintedValues) -> String {
        var text = ""
        for piece in ExternalPager.pieces(of: printed) {
            guard text.utf8.count + piece.utf8.count < Channel.outputLimit else {
                return text + "… the rest is longer than an attached prompt is sent\n"
            }
            text += piece
        }
        return text
    }
}
