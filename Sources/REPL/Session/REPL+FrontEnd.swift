public import Application
import Files
public import Images
import LineEditor
package import Lua
public import Scripting
import Wording

/// The front end of the host.
extension REPL {
    public func applicationWillTerminate() { endTutorial() }

    public func applicationWillStop() {
        tutorialWillStop()
        if isEditing, editor.isActive { perform(editor.suspendDisplay()) }
        leaveEditing()
        pause()
    }

    public func applicationDidEnterForeground() {
        if pagerScreen != nil { return showPager() }
        guard !isRunningEntry else { return waitWithKeys() }
        // A signal that arrived while the process was stopped is handled first: it may end the application.
        takeUpTimer?.cancel()
        takeUpTimer = host.loop.after(0.01) { [weak self] in self?.takeUp() }
    }

    /// A pending return to the foreground is reported first: entries see the state in which they run.
    func takeUp() {
        guard host.exitCode == nil, !isRunningEntry, host.pollTerminal() != .background else { return }
        guard lent == 0 else { return usage = .line }
        watch?.events = .readable
        defer { tutorialDidReturn() }
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

    public func show(help text: String) -> Bool {
        page(WrappedText.wrapped(text, to: printer.columns))
        return true
    }

    package var screenColumns: Int { printer.columns }

    package func describe(_ table: LuaTable) -> String { printer.describe(.table(table)) }

    package func help(onUnknown value: LuaValue) -> String? {
        HelpText(host, functions).ofUndeclared(value, locals: evaluator.scope.locals)
    }

    package func show(whole values: [LuaValue]) { page(printer.whole(values)) }

    /// Asks on the terminal; events are served meanwhile.
    public func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        let verb = access == .reading ? "Allow reading" : "Allow writing"
        // A line break in a path must not end the question.
        let place = VisibleText.line(DisplayPath.abbreviate(path))
        return timed { ask("\(verb) \(place)? [y]es, its whole [f]older, [n]o: ", PathConsent.init) } ?? .no
    }

    public func consent(toChanged program: ProgramGrant) -> Bool {
        let place = VisibleText.line(DisplayPath.abbreviate(program.path))
        return timed {
            askYesOrNo("\(place) has changed since it was granted. Approve it as it is now? [y]es, [n]o: ")
        } ?? false
    }

    /// An entry's duration excludes the time of an answer.
    private func timed<Answer>(_ ask: () -> Answer) -> Answer {
        let start = MonotonicTime.now()
        defer { secondsOfQuestions += MonotonicTime.now().seconds(since: start) }
        return ask()
    }
}
