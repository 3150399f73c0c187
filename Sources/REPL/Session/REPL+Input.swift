import Application
import Glibc
import LineEditor
import Scripting
import Wording

/// Reads entries, and runs them.
extension REPL {
    func beginEntry() {
        guard host.exitCode == nil else { return }
        guard lent == 0 else { return usage = .line }
        let prompts = PromptText(host: host)
        let prompt =
            !isInputTerminal
            ? "" : debugger.current?.prompt ?? prompts.prompt(errors: host.handlerFailureCount - session.seenFailures)
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

    /// Once, at the first prompt: the answers arrive among the keys, long before the first picture.
    private func askTerminal() {
        guard !hasAskedTerminal, session.printer.pictures?.graphics != nil else { return }
        hasAskedTerminal = true
        put(TerminalCapabilities.questions(environment: Environment.value, isLineEmpty: true))
    }

    func waitWithKeys() {
        escapeTimer?.cancel()
        guard lent == 0 else { return usage = .keys }
        hasLeft = false
        guard isEditing, terminal.presence != .background else { return }
        try? mode.run()
    }

    func leaveEditing() {
        escapeTimer?.cancel()
        focusTimer?.cancel()
        takeUpTimer?.cancel()
        if let pagerScreen { put(pagerScreen.hide()) }
        usage = .nothing
        mode.leave()
        hasLeft = true
    }

    // MARK: The terminal for others

    /// What the terminal is used for once it is not lent any more.
    enum Usage { case line, keys, nothing }

    func lendTerminal() {
        host.input.pauses += 1
        lend()
    }

    func takeTerminalBack() {
        host.input.pauses -= 1
        takeBack()
    }

    func lend() {
        lent += 1
        guard lent == 1 else { return }
        escapeTimer?.cancel()
        if isEditing {
            usage = mode.isEntered ? .line : mode.isLeft ? .nothing : .keys
            if mode.isEntered, editor.isActive, !editor.isDisplaySuspended { perform(editor.suspendDisplay()) }
        } else {
            usage = isRunningEntry ? .keys : .line
        }
        pause()
        mode.leave()
    }

    func takeBack() {
        lent -= 1
        guard lent == 0, host.exitCode == nil else { return }
        switch usage {
        case .nothing: break
        case .keys: waitWithKeys()
        case .line:
            guard terminal.presence != .background else { return }
            watch?.events = .readable
            guard isEditing ? editor.isActive : plain.isActive else { return beginEntry() }
            guard isEditing else { return perform(plain.resume()) }
            try? mode.enter()
            perform(editor.resumeDisplay())
        }
    }

    /// In the background input is not read; it resumes in the foreground.
    func pause() { watch?.events = [] }

    func readable(_ ready: ReadyEvents) {
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
        // Keys can arrive before the signal of a new size; the entry that they end must fit the new size.
        if let size = TerminalSize(descriptor: STDOUT_FILENO),
            (size.columns, size.rows) != (screen.columns, screen.rows)
        {
            resized()
        }
        perform(isEditing ? editor.feed(buffer[..<count]) : plain.feed(buffer[..<count]))
        guard isEditing, editor.isWaiting else { return }
        escapeTimer?.cancel()
        escapeTimer = host.loop.after(0.04) { [unowned self] in perform(editor.flush()) }
    }

    func perform(_ outcomes: [Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes)
            case .submitted(let text): submitted(text)
            case .interrupt: break
            case .endOfInput:
                if isEditing { put(Array("\n".utf8)) }
                if let stop = debugger.current { return stop.end() }
                leaveEditing()
                host.terminate(cause: .eof, explicitly: true)
            case .suspend: suspend()
            case .focus(let hasFocus):
                // Terminals repeat focus reports, and tmux reports both at once when panes change.
                focusTimer?.cancel()
                focusTimer = host.loop.after(0.15) { [unowned self] in
                    host.handle(hasFocus ? .focusIn : .focusOut, cause: .focus)
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
            isInterrupted = true
        } else {
            perform(isEditing ? editor.press(.control("c")) : plain.interrupt())
        }
    }

    /// Applies the palette and the editor's options, and redraws a line that is being edited.
    func settingsChanged() {
        editor.options = session.settings.editing
        guard palette != session.settings.palette else { return }
        palette = session.settings.palette
        editor.palette = palette
        if isEditing, mode.isEntered { perform(editor.interruptedBy(output: [])) }
    }

    func resized() {
        guard let size = TerminalSize(descriptor: STDOUT_FILENO) else { return }
        session.printer.columns = size.columns
        session.printer.rows = size.rows
        session.printer.pictures?.size = size
        if isEditing { perform(editor.resize(columns: size.columns, rows: size.rows)) }
        if let pagerScreen { put(pagerScreen.resize(columns: size.columns, rows: size.rows)) }
    }

    private func submitted(_ text: String) {
        waitWithKeys()
        let stop = debugger.current
        if text.trimmed.isEmpty, stop == nil { return beginEntry() }
        if isEditing, editor.history.accepts(text) { try? historyFile.append(text) }
        pause()
        isRunningEntry = true
        isInterrupted = false
        others.isQuiet = true
        followOwner()
        // An entry here ends before the call returns.
        if let stop { stop.perform(entry: text) } else { session.perform(entry: text) {} }
        isRunningEntry = false
        if stop?.isOver ?? false { return }
        if lent == 0 { watch?.events = .readable }
        // What was typed ahead of a script that read lines.
        let rest = host.input.takeRest()
        if isEditing { typedAhead += rest }
        beginEntry()
        if !isEditing, !rest.isEmpty { perform(plain.feed(rest)) }
        others.isQuiet = false
    }
}
