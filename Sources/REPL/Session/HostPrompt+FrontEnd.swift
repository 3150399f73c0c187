package import Application
import Files
package import Images
import LineEditor
package import Lua
package import Scripting
import Wording

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
        guard !isRunningEntry else {
            waitWithKeys()
            return console.askAgain()
        }
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

    package func show(_ image: BitmapImage) { session.show(image) }

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
        session.asking { console.ask(ConsentQuestion.text(access, path), PathConsent.init) } ?? .no
    }

    package func consent(toChanged program: ProgramGrant) -> Bool {
        session.asking { console.ask(ConsentQuestion.text(changed: program), Bool.init(answer:)) } ?? false
    }

    package func consent(toConnect endpoint: NetworkEndpoint) -> Bool {
        session.asking { console.ask(ConsentQuestion.text(endpoint), Bool.init(answer:)) } ?? false
    }
}
