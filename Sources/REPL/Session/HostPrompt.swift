import Application
import Files
import Glibc
package import Items
import LineEditor
import Lua
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
    var palette: TerminalPalette
    var watch: LoopWatch?
    var timers = PromptTimers()
    var loan = TerminalLoan()
    var isRunningEntry = false
    /// The entry to be performed next, if it was submitted before the end of another one.
    private var submission: String?
    /// Whether the line after an entry is being begun.
    var beginsNext = false
    /// Reports changes by attached prompts and the owner.
    lazy var peerChanges = PeerChanges(host.loop) { [unowned self] text in
        host.write(Array((palette.apply(.dimmed, to: text) + "\n").utf8))
    }
    /// Polls for commits of the owner while nothing runs, in read-only mode; nil after a failure.
    private var ownerTimer: LoopTimer?
    /// The exit status at the end of the input, or at `:quit`. Of input that no user types, it becomes 1 with a failed entry.
    package var endStatus: Int32 = 0
    /// The times of changes to items.
    private let sessionChanges = SessionChanges()
    private let allowedPalette: TerminalPalette
    private let reportsFocus: Bool
    private let showsErrors = StandardStream.error.isTerminal

    /// - Parameters:
    ///   - host: a launched host, whose front end this becomes.
    ///   - usesColor: whether to use colours.
    ///   - reportsFocus: whether losing the window's focus makes the application inactive.
    public convenience init(_ host: ScriptHost, usesColor: Bool = true, reportsFocus: Bool = false) {
        self.init(host, usesColor: usesColor, reportsFocus: reportsFocus, isChapter: false)
    }

    /// The same; or the prompt that leads through the chapter.
    package init(_ host: ScriptHost, usesColor: Bool, reportsFocus: Bool, isChapter: Bool) {
        self.host = host
        self.reportsFocus = reportsFocus
        allowedPalette = TerminalPalette.appropriate(
            isTerminal: StandardStream.output.isTerminal, isForbidden: !usesColor, environment: ProcessEnvironment.value
        )
        palette = PromptSettings(allowed: allowedPalette, environment: ProcessEnvironment.value).palette
        let size = Console.size
        session.settings.offersChapter = isChapter
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
                palette: palette, history: (try? file.load()) ?? EditorHistory())
        }
    }

    /// Further lines, for the terminal's current size.
    func makeLines(history: EditorHistory) -> LineInput {
        let lines = LineInput(isEditing: isEditing, size: Console.size, palette: palette, history: history)
        lines.editor.options = session.settings.editing
        return lines
    }

    var services: EditorServices {
        var services = EditorServices()
        let completer = session.completer
        services.completeness = { [unowned host] in Evaluator.completeness(of: $0, in: host.state, host.sql) }
        services.complete = { completer.complete($0, $1) }
        services.indentation = { before, line in BlockDepth.indentation(ofClosing: line, after: before) }
        services.margin = { [unowned self] text in
            session.settings.showsNumbers
                ? console.margin(of: text, number: session.evaluator.count + 1, isDefined: session.isDefined) : ""
        }
        guard !palette.isEmpty else { return services }
        services.highlight = { [unowned host] text in
            let globals = host.state.globals
            return EntryHighlighter.spans(text, in: host.state) { !globals[$0].isNil }
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
        if session.settings.offersChapter { session.beginChapter() }
        if host.options.isReadOnly {
            ownerTimer = host.loop.every(1) { [unowned self] in if !isRunningEntry { followOwner() } }
        }
        watch = host.loop.watch(StandardDescriptor.input) { [unowned self] ready in readable(ready) }
        beginEntry()
        host.flushOutput()
        host.loop.run(until: { host.exitCode != nil })
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
        completion(host.run(function, isEntry: isEntry))
    }

    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void) {
        then(console.perform(request))
    }

    func suspend() {
        leaveEditing()
        host.lifeCycle.handle(.suspend, cause: .sigtstp)
    }

    /// A table for the current screen size.
    func remains(of printed: PrintedValues) -> String {
        guard var table = printed.table else { return console.pager.head(of: printed.text) }
        return session.printer.text(&table, time: printed.time) + "\n"
    }

    func leave() { host.terminate(endStatus, cause: .script, explicitly: true) }

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

    func recordFailure(_ message: String) { session.recordFailure(message) }
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

/// Reads entries, and runs them.
extension HostPrompt {
    func beginEntry() {
        guard host.exitCode == nil else { return }
        guard !isLent else { return loan.usage = .line }
        let prompts = PromptText(host: host)
        let prompt =
            !console.isInputTerminal
            ? "" : debugger.current?.prompt ?? prompts.prompt(errors: host.handlerFailureCount - session.seenFailures)
        let continuation = console.isInputTerminal ? prompts.continuation() : ""
        // A user-defined prompt may have ended the application.
        guard host.exitCode == nil else { return }
        guard isEditing else { return perform(console.lines.begin(prompt: prompt, continuation: continuation)) }
        guard host.pollTerminal() != .background else { return pause() }
        do { try console.mode.enter() } catch { return host.terminate(cause: .sighup, explicitly: false) }
        if session.printer.pictures?.graphics != nil { console.askTerminal() }
        console.beginLine(prompt: prompt, continuation: continuation)
    }

    func waitWithKeys() {
        console.forgetEscape()
        guard !isLent else { return loan.usage = .keys }
        loan.hasLeft = false
        console.holdKeys()
    }

    func leaveEditing() {
        console.forgetEscape()
        timers.cancel()
        console.pager.hide()
        loan.usage = .nothing
        console.mode.leave()
        loan.hasLeft = true
    }

    // MARK: The terminal for others

    func lendTerminal() {
        host.input.pauses += 1
        lend()
    }

    func takeTerminalBack() {
        host.input.pauses -= 1
        takeBack()
    }

    func lend() {
        loan.count += 1
        guard loan.count == 1 else { return }
        console.forgetEscape()
        let (mode, lines) = (console.mode, console.lines)
        if isEditing {
            loan.usage = mode.isEntered ? .line : mode.isLeft ? .nothing : .keys
            if mode.isEntered, lines.isVisible { perform(lines.editor.suspendDisplay()) }
        } else {
            loan.usage = isRunningEntry ? .keys : .line
        }
        pause()
        mode.leave()
    }

    func takeBack() {
        loan.count -= 1
        guard !isLent, host.exitCode == nil else { return }
        switch loan.usage {
        case .nothing: break
        case .keys: waitWithKeys()
        case .line:
            guard console.jobState != .background else { return }
            watch?.events = .readable
            guard console.lines.isActive else { return beginEntry() }
            if isEditing { try? console.mode.enter() }
            perform(console.lines.resume())
        }
    }

    /// In the background input is not read; it resumes in the foreground.
    func pause() { watch?.events = [] }

    func readable(_ ready: ReadyEvents) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(StandardDescriptor.input, &buffer, buffer.count)
        guard count > 0 else {
            switch InputEnd.classify(count: count, code: errno, ready: ready, jobState: console.jobState) {
            case .endOfInput: perform(console.lines.end())
            case .hangUp, .failure: host.terminate(cause: .sighup, explicitly: false)
            case .inBackground: pause()
            case .notYet: break
            }
            return
        }
        // Keys can arrive before the signal of a new size; the entry that they end must fit the new size.
        if let size = TerminalSize(descriptor: StandardDescriptor.output),
            (size.columns, size.rows) != (screen.columns, screen.rows)
        {
            resized()
        }
        perform(console.lines.feed(buffer[..<count]))
        console.awaitEscape()
    }

    func perform(_ outcomes: [EditorOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes)
            case .submitted(let text):
                submission = text
                // Its line was begun at the end of the entry before, which goes on with it: keys may have come for
                // many lines.
                if beginsNext { break }
                while let text = submission {
                    submission = nil
                    perform(entry: text)
                }
            case .interrupt: break
            case .endOfInput:
                if isEditing { put(Array("\n".utf8)) }
                if let stop = debugger.current { return stop.end() }
                leaveEditing()
                host.terminate(endStatus, cause: .eof, explicitly: true)
            case .suspend: suspend()
            case .focus(let hasFocus):
                // Terminals repeat focus reports, and tmux reports both at once when panes change.
                timers.focus?.cancel()
                timers.focus = host.loop.after(0.15) { [unowned self] in
                    host.lifeCycle.handle(hasFocus ? .focusIn : .focusOut, cause: .focus)
                }
            case .report(let report):
                session.printer.pictures?.capabilities.take(report)
                if let background = session.printer.pictures?.capabilities.background {
                    session.settings.background = background
                }
            }
        }
    }

    func interrupted() {
        if isRunningEntry {
            console.isInterrupted = true
        } else {
            perform(console.lines.interrupt())
        }
    }

    /// Applies the palette and the editor's options, and redraws a line that is being edited.
    func settingsChanged() {
        console.lines.editor.options = session.settings.editing
        guard palette != session.settings.palette else { return }
        palette = session.settings.palette
        console.lines.editor.palette = palette
        if isEditing, console.mode.isEntered { perform(console.lines.editor.interruptedBy(output: [])) }
    }

    func resized() {
        guard let size = TerminalSize(descriptor: StandardDescriptor.output) else { return }
        session.printer.columns = size.columns
        session.printer.rows = size.rows
        session.printer.pictures?.size = size
        perform(console.lines.resize(size))
        console.pager.resize(columns: size.columns, rows: size.rows)
    }

    private func perform(entry text: String) {
        waitWithKeys()
        let stop = debugger.current
        if text.trimmed.isEmpty, stop == nil { return beginNext() }
        if isEditing { console.remember(text) }
        pause()
        isRunningEntry = true
        console.isInterrupted = false
        peerChanges.isQuiet = true
        followOwner()
        // An entry here ends before the call returns.
        if let stop {
            stop.perform(entry: text)
        } else if let entry = session.begin(entry: text) {
            session.end(entry, with: host.run(entry.code.function, isEntry: true))
        }
        if session.hasFailed, endStatus == 0, !console.isInputTerminal { endStatus = 1 }
        isRunningEntry = false
        if stop?.isOver ?? false { return }
        if !isLent { watch?.events = .readable }
        // What was typed ahead of a script that read lines.
        let rest = host.input.takeRest()
        if isEditing { console.typeAhead(rest) }
        beginNext()
        if !isEditing, !rest.isEmpty { perform(console.lines.feed(rest)) }
        peerChanges.isQuiet = false
    }

    /// Begins the line after an entry.
    private func beginNext() {
        beginsNext = true
        defer { beginsNext = false }
        beginEntry()
    }
}
