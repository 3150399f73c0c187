import Application
import Glibc
import LineEditor
import Lua
public import Scripting
public import Stores

/// A prompt on a host: reads entries, runs them, prints what they give, until the application ends.
public final class REPL: HostFrontEnd {
    private let host: ScriptHost
    private var evaluator: Evaluator
    private var printer: ValuePrinter
    private let editor: LineEditor
    private var plain = PlainLineReader()
    private let mode = TerminalMode()
    private let isEditing: Bool
    private let historyFile: HistoryFile
    private var watch: LoopWatch?
    private var escapeTimer: LoopTimer?
    /// An entry runs: the terminal is the script's.
    private var isRunningEntry = false
    private var hasAskedTerminal = false
    private let terminal = Terminal()
    private let palette: Palette
    private static let prompt: StyledText = StyledText("> ", .prompt)
    private static let continuation: StyledText = StyledText("… ", .continuationPrompt)

    /// - Parameters:
    ///   - host: launched already; its front end is this from now on.
    ///   - usesColor: false for none.
    public init(_ host: ScriptHost, usesColor: Bool = true) {
        self.host = host
        evaluator = Evaluator(host)
        printer = ValuePrinter(host)
        isEditing = TerminalMode.supportsEditing(environment: Environment.value)
        palette = Palette.appropriate(
            isTerminal: isatty(STDOUT_FILENO) == 1, isForbidden: !usesColor, environment: Environment.value)
        historyFile = HistoryFile(path: PathText.join(host.container.applicationSupport, "repl_history"))
        let size = TerminalSize(descriptor: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
        var renderer = Renderer(columns: size.columns, rows: size.rows, palette: palette)
        renderer.reflows = TerminalMode.reflows(environment: Environment.value)
        var services = EditorServices()
        let state = host.state
        services.completeness = { Evaluator.completeness(of: $0, in: state) }
        services.highlight = { [unowned host] text in
            let globals = host.state.globals
            return LuaHighlighter.spans(text) { !globals.rawGet(.text($0)).isNil }
        }
        let completer = Completer(host: host, locals: evaluator.scope.locals, functions: FunctionTexts(host))
        services.complete = { completer.complete($0, $1) }
        services.indentation = { before, line in BlockDepth.indentation(ofClosing: line, after: before) }
        editor = LineEditor(
            renderer: renderer, services: services, history: (try? historyFile.load()) ?? History())
        plain.services = services
        printer.columns = size.columns
        printer.rows = size.rows
        printer.pictures = TerminalPictures(size: size, hasColors: !palette.isEmpty, environment: Environment.value)
    }

    /// Shows the banner and serves the prompt until the application has ended.
    public func run() {
        host.frontEnd = self
        host.onInterrupt = { [unowned self] in interrupted() }
        host.onOtherSignal = { [unowned self] signal in if signal == .windowChange { resized() } }
        put(Array(Banner.text(host).utf8))
        watch = host.loop.watch(STDIN_FILENO) { [unowned self] ready in readable(ready) }
        beginEntry()
        host.runUntilTerminated()
        leaveEditing()
        watch?.cancel()
        host.frontEnd = nil
    }

    // MARK: Reading

    private func beginEntry() {
        guard host.exitCode == nil else { return }
        guard isEditing else { return perform(plain.begin(prompt: Self.prompt, continuation: Self.continuation)) }
        guard terminal.presence != .background else { return pause() }
        do { try mode.enter() } catch { host.terminate(cause: .sighup, explicitly: false) }
        askTerminal()
        perform(editor.begin(prompt: Self.prompt, continuation: Self.continuation))
    }

    /// Once, at the first prompt: the answers come among the keys, long before the first picture is drawn.
    private func askTerminal() {
        guard !hasAskedTerminal, printer.pictures?.graphics != nil else { return }
        hasAskedTerminal = true
        put(TerminalCapabilities.questions(environment: Environment.value))
    }

    private func leaveEditing() {
        escapeTimer?.cancel()
        mode.leave()
    }

    /// In the background no input is read; the foreground takes it up again.
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
                host.terminate(cause: .eof, explicitly: true)
            case .suspend:
                leaveEditing()
                host.handle(.suspend, cause: .sigtstp)
            case .report(let report): printer.pictures?.capabilities.take(report)
            case .focus: break
            }
        }
    }

    private func interrupted() {
        if !isEditing { perform(plain.interrupt()) }
    }

    private func resized() {
        guard let size = TerminalSize(descriptor: STDOUT_FILENO) else { return }
        printer.columns = size.columns
        printer.rows = size.rows
        printer.pictures?.size = size
        if isEditing { perform(editor.resize(columns: size.columns, rows: size.rows)) }
    }

    // MARK: Running

    private func submitted(_ text: String) {
        leaveEditing()
        let trimmed = text.trimmed
        if trimmed.isEmpty { return beginEntry() }
        if isEditing, editor.history.accepts(text) { try? historyFile.append(text) }
        if [":quit", ":q", ":exit"].contains(trimmed) {
            return host.terminate(cause: .script, explicitly: true)
        }
        pause()
        isRunningEntry = true
        evaluate(trimmed == ":help" ? "help()" : text)
        isRunningEntry = false
        watch?.events = .readable
        beginEntry()
    }

    private func evaluate(_ text: String) {
        let before = host.items.count
        let start = MonotonicTime.now()
        let result = evaluator.evaluate(text)
        let seconds = MonotonicTime.now().seconds(since: start)
        guard host.exitCode == nil else { return }
        switch result {
        case .success(let values):
            if values.isEmpty {
                let change = host.items.count - before
                guard abs(change) > 1 else { return }
                let verb = change > 0 ? "created" : "removed"
                print("\(ValuePrinter.grouped(abs(change))) items \(verb) · \(ItemTable.duration(seconds))\n")
            } else {
                print(printer.text(values, seconds: seconds))
            }
        case .failure(let error): report(error)
        }
    }

    private func report(_ error: LuaError) {
        if error.kind == .cancelled { return print("interrupted\n", toStandardError: true) }
        let isSyntax = if case .syntax = error.kind { true } else { false }
        let text = ErrorText.describe(error, sources: host.sources, traceback: !isSyntax)
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let head = palette.apply(.error, to: String(lines.first ?? ""))
        let rest = lines.count > 1 ? "\n" + palette.apply(.dimmed, to: String(lines[1])) : ""
        print(head + rest + "\n", toStandardError: true)
    }

    private func print(_ text: String, toStandardError: Bool = false) {
        host.write(Array(text.utf8), toStandardError: toStandardError)
    }

    /// Past the host's streams, in their order: what they hold goes first.
    private func put(_ bytes: [UInt8]) {
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
    }

    public func applicationDidEnterForeground() {
        guard !isRunningEntry else { return }
        watch?.events = .readable
        guard isEditing else { return perform(plain.resume()) }
        resized()
        guard editor.isActive else { return }
        try? mode.enter()
        perform(editor.resumeDisplay())
    }

    public func applicationWillEnterBackground() {
        if isEditing, editor.isActive, !editor.isDisplaySuspended { perform(editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    public func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        guard isEditing, editor.isActive, mode.isEntered else { return false }
        perform(editor.interruptedBy(output: bytes))
        return true
    }

    public func show(_ image: Image) { print(printer.picture(image) + "\n") }

    /// Asks on the terminal, as it is while a script runs; events are served meanwhile.
    public func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        let verb = access == .reading ? "Allow reading" : "Allow writing"
        put(Array("\(verb) \(DisplayPath.abbreviate(path))? [y]es, its whole [f]older, [n]o: ".utf8))
        var reply: String?
        // The prompt's own watch is in the middle of the entry that asks.
        let question = host.loop.watch(STDIN_FILENO) { _ in
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            reply = count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
        }
        defer { question.cancel() }
        while reply == nil, host.exitCode == nil, !host.isCancelRequested { host.loop.runOnce() }
        switch reply?.trimmed.lowercased().first {
        case "y": return .yes
        case "f": return .folder
        default: return .no
        }
    }
}

extension String {
    /// Without blanks and line breaks at both ends.
    fileprivate var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
