public import Application
import Files
import Glibc
public import Images
import Items
import LineEditor
import Lua
public import Scripting
import Wording

/// The prompt of a host: reads entries, runs them and prints their results until the application ends.
public final class REPL: HostFrontEnd {
    let host: ScriptHost
    var evaluator: Evaluator
    var printer: ValuePrinter
    let editor: LineEditor
    let settings: PromptSettings
    private(set) var palette: Palette
    let mode: TerminalMode
    /// Whether lines are edited; otherwise whole lines come from the terminal or a pipe.
    let isEditing: Bool
    let historyFile: HistoryFile
    let functions: FunctionTexts
    var record = SessionRecord()
    var tutorial: Tutorial?
    /// Whether every entry's duration is shown.
    var showsTime = false
    /// Seconds that the entry's questions waited for answers, which its duration excludes.
    var secondsOfQuestions = 0.0
    /// The initial text of the next line, from an external editor.
    var nextText = ""
    /// What was committed since the entry began.
    var changes = ChangeNotice()
    /// When items were changed.
    let sessionChanges = SessionChanges()
    /// The number of failures of handlers and timers already seen.
    var seenFailures = 0
    private var plain = PlainLineReader()
    private let showsErrors = isatty(STDERR_FILENO) == 1
    private var watch: LoopWatch?
    private var escapeTimer: LoopTimer?
    private var focusTimer: LoopTimer?
    /// Resumes reading after a return to the foreground; a stale timer must not read in the background.
    private var takeUpTimer: LoopTimer?
    /// Whether an entry runs: keys wait, and Ctrl-C is a signal.
    private(set) var isRunningEntry = false
    /// Whether Ctrl-C came during an entry while no script code ran: a pager, a question.
    var isInterrupted = false
    /// The pager that has the terminal.
    var pagerScreen: PagerScreen?
    /// Keys for the next entry that came while a pager was open.
    var typedAhead: [UInt8] = []
    private var hasAskedTerminal = false
    private let terminal = Terminal()
    let isInputTerminal = isatty(STDIN_FILENO) == 1

    /// - Parameters:
    ///   - host: a launched host, whose front end this becomes.
    ///   - usesColor: false for none.
    ///   - reportsFocus: whether losing the window's focus makes the application inactive.
    public init(_ host: ScriptHost, usesColor: Bool = true, reportsFocus: Bool = false) {
        self.host = host
        evaluator = Evaluator(host)
        printer = ValuePrinter(host)
        functions = FunctionTexts(host)
        var options = TerminalMode.Options()
        options.interruptsBySignal = true
        options.reportsFocus = reportsFocus
        mode = TerminalMode(options: options)
        isEditing = TerminalMode.supportsEditing(environment: Environment.value)
        let allowed = Palette.appropriate(
            isTerminal: isatty(STDOUT_FILENO) == 1, isForbidden: !usesColor, environment: Environment.value)
        settings = PromptSettings(allowed: allowed, environment: Environment.value)
        palette = settings.palette
        historyFile = HistoryFile(
            path: PathText.join(host.container.applicationSupport, "repl_history"), followsLinks: false)
        let size = TerminalSize(descriptor: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
        var renderer = Renderer(columns: size.columns, rows: size.rows, palette: palette)
        renderer.reflows = TerminalMode.reflows(environment: Environment.value)
        editor = LineEditor(renderer: renderer, history: (try? historyFile.load()) ?? History())
        printer.columns = size.columns
        printer.rows = size.rows
        printer.isPaged = isEditing
        printer.changed = { [sessionChanges] in sessionChanges.date(of: $0) }
        printer.pictures = TerminalPictures(size: size, hasColors: !palette.isEmpty, environment: Environment.value)
        editor.services = services
        plain.services = services
    }

    private var services: EditorServices {
        var services = EditorServices()
        let completer = Completer(host: host, locals: evaluator.scope.locals, functions: functions)
        services.completeness = { [unowned host] in Evaluator.completeness(of: $0, in: host.state) }
        services.complete = { completer.complete($0, $1) }
        services.indentation = { before, line in BlockDepth.indentation(ofClosing: line, after: before) }
        services.margin = { [unowned self] in margin(of: $0) }
        guard !palette.isEmpty else { return services }
        services.highlight = { [unowned host] text in
            let globals = host.state.globals
            return LuaHighlighter.spans(text) { !globals[$0].isNil }
        }
        return services
    }

    /// Shows the banner and serves the prompt until the application has ended.
    public func run() {
        host.frontEnd = self
        host.onInterrupt = { [unowned self] in interrupted() }
        host.onOtherSignal = { [unowned self] signal in if signal == .windowChange { resized() } }
        seenFailures = host.handlerFailureCount
        installFunctions()
        settings.install(in: host.state)
        settings.onChange = { [unowned self] in settingsChanged() }
        runPromptFiles()
        host.items.commitCounter = { [unowned self] cause, tally in changes.add(cause, tally) }
        host.items.addCommitObserver(sessionChanges)
        defer {
            host.items.commitCounter = nil
            host.items.removeCommitObserver(sessionChanges)
        }
        if isEditing { Terminal.restoreAfterCrash(sequences: PagerScreen.restoring + mode.restoringSequences) }
        if isInputTerminal {
            waitWithKeys()
            let banner = WrappedText.wrapped(VisibleText.escaped(Banner.text(host)), to: printer.columns)
            put(Array(banner.utf8))
        }
        watch = host.loop.watch(STDIN_FILENO) { [unowned self] ready in readable(ready) }
        beginEntry()
        host.runUntilTerminated()
        leaveEditing()
        watch?.cancel()
        host.frontEnd = nil
        host.describeUnknown = nil
        host.describeTable = nil
        host.screenColumns = nil
    }

    // MARK: Reading

    private func beginEntry() {
        guard host.exitCode == nil else { return }
        let prompts = PromptText(host: host)
        let prompt = isInputTerminal ? prompts.prompt(errors: host.handlerFailureCount - seenFailures) : ""
        let continuation = isInputTerminal ? prompts.continuation() : ""
        // A user-defined prompt may have ended the application.
        guard host.exitCode == nil else { return }
        guard isEditing else { return perform(plain.begin(prompt: prompt, continuation: continuation)) }
        guard host.pollTerminal() != .background else { return pause() }
        do { try mode.enter() } catch { return host.terminate(cause: .sighup, explicitly: false) }
        askTerminal()
        let text = nextText
        nextText = ""
        perform(editor.begin(prompt: prompt, continuation: continuation, text: text))
        guard !typedAhead.isEmpty else { return }
        let typed = typedAhead
        typedAhead = []
        perform(editor.feed(typed))
    }

    /// Once, at the first prompt: the answers come among the keys, long before the first picture.
    private func askTerminal() {
        guard !hasAskedTerminal, printer.pictures?.graphics != nil else { return }
        hasAskedTerminal = true
        put(TerminalCapabilities.questions(environment: Environment.value))
    }

    /// Makes keys wait; Ctrl-C and Ctrl-Z are signals.
    func waitWithKeys() {
        escapeTimer?.cancel()
        guard isEditing, terminal.presence != .background else { return }
        try? mode.run()
    }

    /// Restores the terminal's mode.
    func leaveEditing() {
        escapeTimer?.cancel()
        focusTimer?.cancel()
        takeUpTimer?.cancel()
        if let pagerScreen { put(pagerScreen.hide()) }
        mode.leave()
    }

    /// In the background input is not read; it resumes in the foreground.
    private func pause() { watch?.events = [] }

    private func readable(_ ready: ReadyEvents) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else {
            switch InputEnd.classify(count: count, code: errno, ready: ready, presence: terminal.presence) {
            case .endOfInput: perform(isEditing ? [.endOfInput] : plain.end())
            case .hangUp, .failure: host.terminate(cause: .sighup, explicitly: false)
            case .inBackground: pause()
            case .notYet: break
            }
            return
        }
        perform(isEditing ? editor.feed(buffer[..<count]) : plain.feed(buffer[..<count]))
        guard isEditing, editor.isWaiting else { return }
        escapeTimer?.cancel()
        escapeTimer = host.loop.after(0.04) { [unowned self] in perform(editor.flush()) }
    }

    private func perform(_ outcomes: [Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes)
            case .submitted(let text): submitted(text)
            case .interrupt: break
            case .endOfInput:
                if isEditing { put(Array("\n".utf8)) }
                leaveEditing()
                host.terminate(cause: .eof, explicitly: true)
            case .suspend:
                leaveEditing()
                host.handle(.suspend, cause: .sigtstp)
            case .focus(let hasFocus):
                // Terminals repeat focus reports, and tmux reports both at once when panes change.
                focusTimer?.cancel()
                focusTimer = host.loop.after(0.15) { [unowned self] in
                    host.handle(hasFocus ? .focusIn : .focusOut, cause: .focus)
                }
            case .report(let report):
                printer.pictures?.capabilities.take(report)
                if let background = printer.pictures?.capabilities.background { settings.background = background }
            }
        }
    }

    private func interrupted() {
        if isRunningEntry {
            isInterrupted = true
        } else {
            perform(isEditing ? editor.press(.control("c")) : plain.interrupt())
        }
    }

    /// The palette and the editor's options; a line that is being edited is drawn again.
    private func settingsChanged() {
        editor.options = settings.editing
        guard palette != settings.palette else { return }
        palette = settings.palette
        editor.palette = palette
        if isEditing, mode.isEntered { perform(editor.interruptedBy(output: [])) }
    }

    func resized() {
        guard let size = TerminalSize(descriptor: STDOUT_FILENO) else { return }
        printer.columns = size.columns
        printer.rows = size.rows
        printer.pictures?.size = size
        if isEditing { perform(editor.resize(columns: size.columns, rows: size.rows)) }
        if let pagerScreen { put(pagerScreen.resize(columns: size.columns, rows: size.rows)) }
    }

    private func submitted(_ text: String) {
        waitWithKeys()
        if text.trimmed.isEmpty { return beginEntry() }
        if isEditing, editor.history.accepts(text) { try? historyFile.append(text) }
        pause()
        isRunningEntry = true
        isInterrupted = false
        perform(entry: text)
        isRunningEntry = false
        watch?.events = .readable
        beginEntry()
    }

    // MARK: Writing

    /// Prints styled text, with data escaped.
    func print(_ text: StyledText, toStandardError: Bool = false) {
        draw(palette.apply(to: Self.escaped(text)), toStandardError: toStandardError)
    }

    func print(_ text: String, toStandardError: Bool = false) {
        print(StyledText(text), toStandardError: toStandardError)
    }

    /// Writes preformatted text: values from the printer, with pictures.
    func draw(_ text: String, toStandardError: Bool = false) {
        host.write(Array(text.utf8), toStandardError: toStandardError)
    }

    private static func escaped(_ text: StyledText) -> StyledText {
        StyledText(text.pieces.map { StyledText.Piece(VisibleText.escaped($0.text), $0.style) })
    }

    /// Writes to the terminal after flushing the host's streams, in order.
    func put(_ bytes: [UInt8]) {
        host.flushOutput()
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR, errno != EAGAIN { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    // MARK: The host's front end

    public func applicationWillStop() {
        if isEditing, editor.isActive { perform(editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    public func applicationDidEnterForeground() {
        if pagerScreen != nil { return showPager() }
        guard !isRunningEntry else { return waitWithKeys() }
        // A signal that arrived while the process was stopped is handled first: it may be the end.
        takeUpTimer?.cancel()
        takeUpTimer = host.loop.after(0.01) { [weak self] in self?.takeUp() }
    }

    /// A pending return to the foreground is reported first: entries see the state in which they run.
    private func takeUp() {
        guard host.exitCode == nil, !isRunningEntry, host.pollTerminal() != .background else { return }
        watch?.events = .readable
        guard isEditing else { return perform(plain.resume()) }
        resized()
        guard editor.isActive else { return beginEntry() }
        try? mode.enter()
        perform(editor.resumeDisplay())
    }

    public func applicationWillEnterBackground() {
        if isEditing, editor.isActive, !editor.isDisplaySuspended { perform(editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    public func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        if let pagerScreen, pagerScreen.isShown {
            if toStandardError, !showsErrors { return false }
            put(pagerScreen.hide() + bytes)
            put(pagerScreen.show())
            return true
        }
        guard isEditing, editor.isActive, mode.isEntered else { return false }
        // Redirected standard error does not go to the terminal.
        if toStandardError, !showsErrors { return false }
        perform(editor.interruptedBy(output: bytes))
        return true
    }

    public func show(_ image: Image) { draw(printer.picture(image) + "\n") }

    /// Asks on the terminal; events are served meanwhile.
    public func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        let verb = access == .reading ? "Allow reading" : "Allow writing"
        // A line break in a path must not end the question.
        let place = VisibleText.line(DisplayPath.abbreviate(path))
        return ask("\(verb) \(place)? [y]es, its whole [f]older, [n]o: ", PathConsent.init) ?? .no
    }

    public func consent(toChanged program: ProgramGrant) -> Bool {
        let place = VisibleText.line(DisplayPath.abbreviate(program.path))
        return ask("\(place) has changed since it was granted. Approve it as it is now? [y]es, [n]o: ") { answer in
            switch PathConsent(answer: answer) {
            case .yes: true
            case .no: false
            case .folder, nil: nil
            }
        } ?? false
    }

    /// Asks until there is an answer; nil at the end of input, after Ctrl-C, and without a terminal.
    func ask<Answer>(_ question: String, _ answer: (String) -> Answer?) -> Answer? {
        guard isInputTerminal else { return nil }
        // The answer is edited by the kernel; keys typed before the question are not part of it.
        mode.leave()
        let asked = MonotonicTime.now()
        defer {
            secondsOfQuestions += MonotonicTime.now().seconds(since: asked)
            waitWithKeys()
        }
        while true {
            tcflush(STDIN_FILENO, TCIFLUSH)
            put(Array(question.utf8))
            let reply = nextInput { $0.contains(0x0A) }
            guard let end = reply.firstIndex(of: 0x0A) else {
                put([0x0A])
                return nil
            }
            if let answer = answer(String(decoding: reply[..<end], as: UTF8.self)) { return answer }
        }
    }

    /// Waits for input while an entry runs, serving events; empty when interrupted or at the application's end.
    ///
    /// - Parameters:
    ///   - seconds: how long; without limit if not given.
    ///   - isEnough: whether the input is complete.
    /// - Returns: the bytes.
    func nextInput(within seconds: Double? = nil, until isEnough: ([UInt8]) -> Bool) -> [UInt8] {
        var input: [UInt8] = []
        var hasEnded = false
        // The prompt's own watch is inside the handler of the running entry.
        let question = host.loop.watch(STDIN_FILENO) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                input += buffer[..<count]
            } else if count == 0 || (errno != EINTR && errno != EAGAIN && terminal.presence != .background) {
                hasEnded = true
            }
        }
        defer { question.cancel() }
        isInterrupted = false
        while !hasEnded, !isEnough(input), !isInterrupted, host.exitCode == nil, !host.isCancelRequested {
            // In the background the question waits: input belongs to the shell. The poller's timer wakes the loop.
            question.events = terminal.presence == .background ? [] : .readable
            host.loop.runOnce(timeout: seconds)
            if seconds != nil { break }
        }
        return isInterrupted ? [] : input
    }
}
