package import Application
import Files
import Glibc
package import Images
package import Items
import LineEditor
package import Lua
public import Scripting
@_exported import Wording

/// The prompt of a host: reads entries, runs them and prints their results until the application ends.
public final class HostPrompt: PromptTerminal, ConsoleOwner, CommitListener {
    let host: ScriptHost
    private(set) lazy var session = PromptSession(
        host, on: self, settings: PromptSettings(allowed: allowedPalette, environment: ProcessEnvironment.value))
    private(set) lazy var console = makeConsole()
    /// Shows breaks.
    private(set) lazy var debugger = PromptDebugger(self)
    var palette: Palette
    var watch: LoopWatch?
    var timers = PromptTimers()
    var loan = TerminalLoan()
    var isRunningEntry = false
    /// Reports changes by attached prompts and the owner.
    lazy var peerChanges = PeerChanges(host.loop) { [unowned self] text in
        host.write(Array((palette.apply(.dimmed, to: text) + "\n").utf8))
    }
    /// Polls for commits of the owner while nothing runs, in read-only mode; nil after a failure.
    private var ownerTimer: LoopTimer?
    /// The times of changes to items.
    private let sessionChanges = SessionChanges()
    private let allowedPalette: Palette
    private let reportsFocus: Bool
    private let showsErrors = StandardStream.error.isTerminal

    /// - Parameters:
    ///   - host: a launched host, whose front end this becomes.
    ///   - usesColor: whether to use colours.
    ///   - reportsFocus: whether losing the window's focus makes the application inactive.
    public init(_ host: ScriptHost, usesColor: Bool = true, reportsFocus: Bool = false) {
        self.host = host
        self.reportsFocus = reportsFocus
        allowedPalette = Palette.appropriate(
            isTerminal: StandardStream.output.isTerminal, isForbidden: !usesColor, environment: ProcessEnvironment.value
        )
        palette = PromptSettings(allowed: allowedPalette, environment: ProcessEnvironment.value).palette
        let size = Console.size
        session.printer.columns = size.columns
        session.printer.rows = size.rows
        session.printer.isPaged = isEditing
        session.printer.changed = { [sessionChanges] in sessionChanges.date(of: $0) }
        session.printer.pictures = TerminalPictures(
            size: size, hasColors: !palette.isEmpty, environment: ProcessEnvironment.value)
        console.lines.services = services
    }

    private func makeConsole() -> Console {
        var options = TerminalMode.Options()
        options.reportsFocus = reportsFocus
        return Console(
            of: self, loop: host.loop, options: options, container: host.container, files: host.files
        ) { file in
            LineInput(
                isEditing: Console.canEdit, size: Console.size,
                palette: palette, history: (try? file.load()) ?? History())
        }
    }

    /// Further lines, for the terminal's current size.
    func makeLines(history: History) -> LineInput {
        let lines = LineInput(isEditing: isEditing, size: Console.size, palette: palette, history: history)
        lines.editor.options = session.settings.editing
        return lines
    }

    var services: EditorServices {
        var services = EditorServices()
        let completer = session.completer
        services.completeness = { [unowned host] in Evaluator.completeness(of: $0, in: host.state) }
        services.complete = { completer.complete($0, $1) }
        services.indentation = { before, line in BlockDepth.indentation(ofClosing: line, after: before) }
        services.margin = { [unowned self] text in
            session.settings.showsNumbers
                ? console.margin(of: text, number: session.evaluator.count + 1, isDefined: session.isDefined) : ""
        }
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
        host.debugger.frontEnd = debugger
        host.onInterrupt = { [unowned self] in interrupted() }
        host.onOtherSignal = { [unowned self] signal in if signal == .windowChange { resized() } }
        session.seenFailures = host.handlerFailureCount
        PromptFunctions.install(in: host)
        lendInput()
        session.settings.install(in: host.state)
        session.settings.onChange = { [unowned self] in settingsChanged() }
        runPromptFiles()
        host.addCommitListener(self)
        host.items.addCommitObserver(sessionChanges)
        defer {
            host.removeCommitListener(self)
            host.items.removeCommitObserver(sessionChanges)
        }
        console.restoreAfterCrash()
        if console.isInputTerminal {
            waitWithKeys()
            let banner = WrappedText.wrapped(VisibleText.escaped(Banner.text(host)), to: screenColumns)
            put(Array(banner.utf8))
        }
        if host.options.isReadOnly {
            ownerTimer = host.loop.every(1) { [unowned self] in if !isRunningEntry { followOwner() } }
        }
        watch = host.loop.watch(StandardDescriptor.input) { [unowned self] ready in readable(ready) }
        beginEntry()
        host.runUntilTerminated()
        leaveEditing()
        watch?.cancel()
        ownerTimer?.cancel()
        (host.input.lend, host.input.takeBack) = (nil, {})
        host.frontEnd = nil
    }

    /// Lends the terminal to scripts that read lines of it.
    private func lendInput() {
        host.input.lend = { [unowned self] in lend() }
        host.input.takeBack = { [unowned self] in
            StandardStream.recordEchoedLine()
            takeBack()
        }
    }

    // MARK: Writing

    func page(_ printed: PrintedValues) { console.pager.page(printed) }

    func draw(_ text: String, toStandardError: Bool = false) {
        host.write(Array(text.utf8), toStandardError: toStandardError)
    }

    /// Writes to the terminal at once, in order with the host's streams.
    func put(_ bytes: [UInt8]) {
        StandardStream.output.put(bytes)
        host.flushOutput()
    }

    // MARK: A prompt with a terminal

    func turn(timeout: Double?) -> Bool { host.turn(timeout: timeout) }

    func waitingForUser<Value>(_ body: () -> Value) -> Value {
        // A script that reads lines waits meanwhile.
        host.input.pauses += 1
        defer { host.input.pauses -= 1 }
        return host.waitingForUser(body)
    }

    func environment(_ name: String) -> String? { ProcessEnvironment.value(name) }

    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        completion(isEntry ? host.runEntry(function) : host.run(function))
    }

    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void) {
        then(console.perform(request))
    }

    func suspend() {
        leaveEditing()
        host.handle(.suspend, cause: .sigtstp)
    }

    /// A table for the current screen size.
    func remains(of printed: PrintedValues) -> String {
        guard var table = printed.table else { return console.pager.head(of: printed.text) }
        return session.printer.text(&table, time: printed.time) + "\n"
    }

    func leave() { host.terminate(cause: .script, explicitly: true) }

    // MARK: Commits

    /// Applies the owner's commits in read-only mode: the next entry sees them, and a running one does not.
    func followOwner() {
        guard ownerTimer != nil else { return }
        do throws(StoreError) { try host.items.followOwner() } catch {
            ownerTimer?.cancel()
            ownerTimer = nil
            session.complain("the owner's changes are no longer followed: \(error.message)")
        }
    }

    package func didCommit(
        _ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally, author: (any HostFrontEnd)?
    ) {
        let other = author != nil ? "an attached prompt" : ownerTimer != nil && cause == .remote ? "the owner" : nil
        guard let other else { return session.changes.add(cause, tally) }
        if console.isInputTerminal { peerChanges.add(tally, by: other) }
    }
}

/// The terminal of the session, and of the console.
extension HostPrompt {
    var isEditing: Bool { console.lines.isEditing }
    var isLent: Bool { loan.count > 0 }
    var isEnding: Bool { host.exitCode != nil || host.isCancelRequested || host.mustEndWait }
    var screen: TerminalSize { TerminalSize(columns: session.printer.columns, rows: session.printer.rows) }
    var reportsChanges: Bool { true }
    var breaks: PromptDebugger? { debugger }
    var hasFailed: Bool {
        get { session.hasFailed }
        set { session.hasFailed = newValue }
    }
}

/// The timers of a prompt in the foreground.
struct PromptTimers {
    var focus: LoopTimer?
    /// Resumes reading after a return to the foreground; a stale timer must not read in the background.
    var takeUp: LoopTimer?

    func cancel() {
        focus?.cancel()
        takeUp?.cancel()
    }
}

/// The terminal for others.
struct TerminalLoan {
    /// What the terminal is used for once it is not lent any more.
    enum Usage { case line, keys, nothing }

    /// How many questions, programs and reads of scripts have the terminal.
    var count = 0
    var usage = Usage.nothing
    /// Whether the prompt restored the terminal's original mode; if it did not, a question or a program uses that mode.
    var hasLeft = false
}

/// The front end of the host.
extension HostPrompt {
    package func applicationWillTerminate() { session.endTutorial() }

    package func applicationWillStop() {
        session.tutorialWillStop()
        if isEditing, console.lines.isActive { perform(console.lines.editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    package func applicationDidEnterForeground() {
        if console.pager.isOpen { return console.pager.resume() }
        guard !isRunningEntry else { return waitWithKeys() }
        // A signal that arrived while the process was stopped is handled first: it may end the application.
        timers.takeUp?.cancel()
        timers.takeUp = host.loop.after(0.01) { [weak self] in self?.takeUp() }
    }

    /// A pending return to the foreground is reported first: entries see the state in which they run.
    func takeUp() {
        guard host.exitCode == nil, !isRunningEntry, host.pollTerminal() != .background else { return }
        guard !isLent else { return loan.usage = .line }
        watch?.events = .readable
        defer { session.tutorialDidReturn() }
        guard isEditing else { return perform(console.lines.resume()) }
        resized()
        guard console.lines.isActive else { return beginEntry() }
        try? console.mode.enter()
        perform(console.lines.resume())
    }

    package func applicationWillEnterBackground() {
        if console.lines.isVisible { perform(console.lines.editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    package func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        if console.pager.isShown {
            if toStandardError, !showsErrors { return false }
            console.pager.write(bytes)
            return true
        }
        guard isEditing, console.lines.isActive, console.mode.isEntered else { return false }
        // Redirected standard error does not go to the terminal.
        if toStandardError, !showsErrors { return false }
        perform(console.lines.editor.interruptedBy(output: bytes))
        return true
    }

    package func show(_ image: Image) { session.show(image) }

    package func show(help text: String) -> Bool {
        session.show(help: text)
        return true
    }

    package var screenColumns: Int { session.printer.columns }

    package func describe(_ table: LuaTable) -> String { session.describe(table) }

    package func help(onUnknown value: LuaValue) -> String? { session.help(onUnknown: value) }

    package func show(whole values: [LuaValue]) { session.show(whole: values) }

    /// Asks on the terminal; events are served meanwhile.
    package func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        let verb = access == .reading ? "Allow reading" : "Allow writing"
        // A line break in a path must not end the question.
        let place = VisibleText.line(DisplayPath.abbreviate(path))
        return timed { console.ask("\(verb) \(place)? [y]es, its whole [f]older, [n]o: ", PathConsent.init) } ?? .no
    }

    package func consent(toChanged program: ProgramGrant) -> Bool {
        let place = VisibleText.line(DisplayPath.abbreviate(program.path))
        return timed {
            console.askYesOrNo("\(place) has changed since it was granted. Approve it as it is now? [y]es, [n]o: ")
        } ?? false
    }

    /// An entry's duration excludes the time of an answer.
    private func timed<Answer>(_ ask: () -> Answer) -> Answer {
        let start = MonotonicTime.now()
        defer { session.times.secondsOfQuestions += MonotonicTime.now().seconds(since: start) }
        return ask()
    }
}
