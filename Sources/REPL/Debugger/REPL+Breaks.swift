import Application
import Glibc
import LineEditor
import Scripting

/// Reads entries at a break, within the paused entry, handler or timer.
extension REPL {
    /// Whether a break can be shown: the prompt is in the foreground, and no pager, question or program has the
    /// terminal.
    var canRead: Bool {
        isInputTerminal && isatty(STDOUT_FILENO) == 1 && terminal.presence == .foreground && pagerScreen == nil
            && (!isEditing || !mode.isLeft || hasLeft)
    }

    /// Serves the prompt of a break until that is over, and then restores the line that was being edited.
    func readAtBreak(_ session: BreakSession) {
        let asked = MonotonicTime.now()
        let outer = (editor: editor, plain: plain, watch: watch, events: watch?.events ?? [])
        let (wasRunning, wasQuiet, wasEntered, hadLeft) = (isRunningEntry, others.isQuiet, mode.isEntered, hasLeft)
        let wasVisible = isEditing && editor.isActive && !editor.isDisplaySuspended
        if wasVisible { perform(editor.suspendDisplay()) }
        outer.watch?.events = []
        editor = makeEditor(history: outer.editor.history)
        plain = PlainLineReader()
        var services = services
        services.complete = { session.complete($0, $1) }
        services.margin = { _ in "" }
        editor.services = services
        plain.services = services
        watch = loop.watch(STDIN_FILENO) { [unowned self] ready in readable(ready) }
        isRunningEntry = false
        waitWithKeys()
        session.begin()
        beginEntry()
        while !session.isOver {
            session.stop.turn()
            guard session.stop.ending == .interrupted, isEditing, !editor.buffer.text.isEmpty else { continue }
            session.stop.dropInterrupt()
            perform(editor.press(.control("c")))
        }
        if editor.isActive, isEditing { perform(editor.abandon()) }
        watch?.cancel()
        (plain, watch) = (outer.plain, outer.watch)
        outer.editor.history = editor.history
        editor = outer.editor
        (isRunningEntry, others.isQuiet) = (wasRunning, wasQuiet)
        secondsOfQuestions += MonotonicTime.now().seconds(since: asked)
        resized()
        guard host.exitCode == nil else { return }
        watch?.events = outer.events
        if wasEntered, terminal.presence != .background {
            try? mode.enter()
            if wasVisible { perform(editor.resumeDisplay()) }
        } else if hadLeft {
            leaveEditing()
        } else {
            waitWithKeys()
        }
    }
}
