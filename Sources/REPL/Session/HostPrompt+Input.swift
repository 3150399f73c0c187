import Application
import Files
import Glibc
import LineEditor
import Scripting
import Wording

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
        console.feed(buffer[..<count])
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
                timers.focus?.cancel()
                timers.focus = host.loop.after(0.15) { [unowned self] in
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

    private func submitted(_ text: String) {
        waitWithKeys()
        let stop = debugger.current
        if text.trimmed.isEmpty, stop == nil { return beginEntry() }
        if isEditing { console.remember(text) }
        pause()
        isRunningEntry = true
        console.isInterrupted = false
        peerChanges.isQuiet = true
        followOwner()
        // An entry here ends before the call returns.
        if let stop { stop.perform(entry: text) } else { session.perform(entry: text) {} }
        isRunningEntry = false
        if stop?.isOver ?? false { return }
        if !isLent { watch?.events = .readable }
        // What was typed ahead of a script that read lines.
        let rest = host.input.takeRest()
        if isEditing { console.typeAhead(rest) }
        beginEntry()
        if !isEditing, !rest.isEmpty { perform(console.lines.feed(rest)) }
        peerChanges.isQuiet = false
    }
}
