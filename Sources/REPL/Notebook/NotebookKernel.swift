package import Application
import CPlatform
import Files
import Glibc
package import Images
package import Items
package import Jupyter
import LineEditor
package import Lua
import PropertyList
package import Scripting
import Wording

/// The prompt of a notebook: a front end of Jupyter sends its cells, which are entries of a session as at the prompt.
///
/// The front end is another process, and its messages come through sockets that a thread of their own serves. Requests
/// are performed one after another; interrupts, the end and answers to questions also while an entry runs.
package final class NotebookKernel: PromptTerminal, CommitListener {
    let host: ScriptHost
    let queue: JupyterQueue
    private(set) lazy var session = PromptSession(
        host, on: self, settings: PromptSettings(allowed: .none) { ProcessEnvironment.value($0) })
    private(set) lazy var history = NotebookHistory(host)
    private var notifier: EventNotifier?
    private var sockets: JupyterSockets?
    /// The cell that runs.
    var cell: NotebookCell?
    /// The header of the request that output belongs to: that of the last cell, also for what its timers print.
    var parent: [UInt8]?
    var output = NotebookOutput()
    /// Why cells are not run; nil if they are.
    package var denial: String?
    /// Cells that have come up to this message are not run, after a failure.
    var abortedNumber = 0
    private var isScheduled = false
    private var isServing = false
    private var question = Question.none
    /// Whether a script reads a line.
    private var isReading = false
    /// Never readable: what scripts read comes from the front end.
    let silentInput: Int32
    lazy var peerChanges = PeerChanges(host.loop) { [unowned self] text in put(text + "\n") }

    /// A question to the front end.
    private enum Question { case none, waits, answered(String) }

    /// Becomes the front end of a host, which is not launched yet.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - queue: the messages; a test has no sockets behind it.
    package init(_ host: ScriptHost, _ queue: JupyterQueue) {
        (self.host, self.queue) = (host, queue)
        silentInput = cubby_eventfd()
        (session.printer.columns, session.printer.rows) = (100, 45)
        // What is shown can be compared with that of another run.
        session.printer.showsTimes = false
        session.printer.isForTerminal = false
        host.frontEnd = self
        host.input.lend = { [unowned self] in askForLine() }
        host.input.takeBack = { [unowned self] in isReading = false }
        PromptFunctions.install(in: host)
        host.addCommitListener(self)
        let notifier = host.loop.notifier { [weak self] in self?.received() }
        self.notifier = notifier
        queue.notify { [interrupter = host.state.interrupter] message in
            notifier.notify()
            // For these also a long function of the host must end.
            let isUrgent = ["interrupt_request", "shutdown_request"].contains(message.type)
            // The interrupt comes last: a running script polls for notifications once.
            interrupter.interrupt(isUrgent ? [.events, .urgent] : .events)
        }
        publish("status", ["execution_state": .string("starting")])
    }

    deinit { if silentInput >= 0 { Glibc.close(silentInput) } }

    /// Opens the sockets of a connection. A front end that has started this process and is gone ends it.
    ///
    /// - Throws: `JupyterError`.
    package func listen(to connection: JupyterConnection) throws(JupyterError) {
        let sockets = try JupyterSockets(connection, queue)
        try sockets.start()
        self.sockets = sockets
        // The process that has started this one, as the front end's server does.
        guard let starter = ProcessEnvironment.value("JPY_PARENT_PID").flatMap({ pid_t($0) }), starter > 1 else {
            return
        }
        let isWatched = ProcessEnd.notify(of: starter) {
            [poster = host.loop.poster, interrupter = host.state.interrupter] in
            poster.post(.hangUp)
            interrupter.interrupt([.events, .urgent])
        }
        if !isWatched { throw JupyterError.noThread }
    }

    /// Serves the front ends until the application has ended.
    package func run() {
        begin()
        host.loop.run(until: { host.exitCode != nil })
        endOutput()
    }

    /// Begins with the requests: those that came before the launch waited.
    func begin() {
        isServing = true
        schedule()
    }

    /// Sends what is queued, and closes the sockets.
    package func close() {
        host.frontEnd = nil
        let rejected = queue.rejectedCount
        if rejected > 0 {
            host.inform("cubby: not taken: \(rejected.counted("message")), malformed, unsigned or unknown")
        }
        queue.notify(nil)
        if let notifier { host.loop.forget(notifier) }
        host.removeCommitListener(self)
        (host.input.lend, host.input.takeBack) = (nil, {})
        queue.end()
        sockets?.waitForEnd()
    }

    // MARK: Messages

    /// Called for a message, possibly between two instructions of a running script.
    private func received() {
        while let reply = queue.next(.stdin) { take(reply) }
        while let request = queue.next(.control) { perform(request) }
        schedule()
    }

    private func schedule() {
        guard !isScheduled, isServing else { return }
        isScheduled = true
        host.loop.after(0) { [weak self] in self?.work() }
    }

    private func work() {
        isScheduled = false
        while cell == nil, host.exitCode == nil, let request = queue.next(.shell) { perform(request) }
    }

    /// Sends a message to all front ends.
    func publish(_ type: String, _ content: PropertyListFields, parent: [UInt8]? = nil) {
        queue.send(JupyterAnswer(type, content, parent: parent))
    }

    // MARK: Output

    private func put(_ text: String, isError: Bool = false) { put(Array(text.utf8), isError: isError) }

    private func put(_ bytes: [UInt8], isError: Bool) {
        let shown = output.take(bytes)
        if !shown.isEmpty { queue.send(Array(shown), isError: isError, parent: parent) }
    }

    /// Says what was left out of the output.
    func endOutput() {
        if let notice = output.notice { queue.send(Array(notice.utf8), isError: true, parent: parent) }
        output = NotebookOutput()
    }

    func draw(_ text: String, toStandardError: Bool) {
        let isFailure = toStandardError && session.hasFailed && cell != nil
        if isFailure { cell?.failure += text } else { put(text, isError: toStandardError) }
    }

    func page(_ printed: PrintedValues) {
        let values = cell?.values
        cell?.values = nil
        let rich = RichResult(host, session.printer, isWhole: values == nil)
        if let values, let cell {
            guard !printed.text.isEmpty, !cell.isSilent else { return }
            display(rich.data(of: values, printed), number: cell.number)
        } else if printed.rows != nil {
            display(rich.data(of: [], printed))
        } else {
            put(printed.text + printed.picture)
        }
    }

    /// Shows the forms of a value: a result with its number, or what is shown beside it.
    private func display(_ data: PropertyListFields, number: Int? = nil) {
        var content: PropertyListFields = ["data": .fields(data), "metadata": .fields([:])]
        content["execution_count"] = number.map { .integer(Int64($0)) }
        if number == nil { content["transient"] = .fields([:]) }
        publish(number == nil ? "display_data" : "execute_result", content, parent: parent)
    }

    // MARK: Questions

    /// Asks the front end until there is an answer; events are served meanwhile.
    func ask<Answer>(_ text: String, _ parse: (String) -> Answer?) -> Answer? {
        // A question of a timer, while another one waits, is not asked.
        guard let cell, cell.allowsInput, case .none = question else { return nil }
        host.input.pauses += 1
        defer { host.input.pauses -= 1 }
        return host.waitingForUser {
            while let reply = reply(to: text, for: cell) { if let answer = parse(reply) { return answer } }
            return nil
        }
    }

    private func reply(to text: String, for cell: NotebookCell) -> String? {
        request(line: text, for: cell)
        question = .waits
        defer { question = .none }
        while !host.isCancelRequested, host.exitCode == nil, host.turn(timeout: nil) {
            if case .answered(let text) = question { return text }
        }
        return nil
    }

    private func request(line prompt: String, for cell: NotebookCell) {
        let content: PropertyListFields = ["prompt": .string(prompt), "password": .boolean(false)]
        queue.send(JupyterAnswer("input_request", content, to: cell.request, through: .stdin))
    }

    private func take(_ reply: JupyterMessage) {
        guard reply.type == "input_reply", case .string(let text)? = reply.content.fields?["value"] else { return }
        if case .waits = question { return question = .answered(text) }
        guard isReading else { return }
        // As Ctrl-D in a terminal.
        if text.unicodeScalars.last == "\u{4}" {
            host.input.supply(Array(text.utf8.dropLast()))
            return host.input.supplyEnd()
        }
        host.input.supply(Array((text + "\n").utf8))
        // A read of several lines goes on.
        if isReading { askForLine() }
    }

    /// A script reads standard input.
    private func askForLine() {
        // Nobody answers a timer between two cells.
        guard let cell else { return host.input.supplyEnd() }
        guard cell.allowsInput else { return }
        isReading = true
        request(line: "", for: cell)
    }

    // MARK: Commits

    package func didCommit(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally, author: (any HostFrontEnd)?) {
        if author == nil { session.changes.add(cause, tally) } else { peerChanges.add(tally, by: "an attached prompt") }
    }
}

/// The terminal of the session.
extension NotebookKernel {
    var isEditing: Bool { false }
    var palette: TerminalPalette { .none }
    var reportsChanges: Bool { true }

    func environment(_ name: String) -> String? { ProcessEnvironment.value(name) }

    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        let result = host.run(function, isEntry: isEntry)
        switch result {
        case .success(let values): if isEntry { cell?.values = values }
        case .failure(let error): cell?.error = error
        }
        completion(result)
    }

    func leave() { host.terminate(cause: .script, explicitly: true) }

    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void) {
        var answer = TerminalAnswer(isDone: true)
        switch request.kind {
        case .confirm where cell?.allowsInput == true:
            answer.isDone = session.asking { ask(VisibleText.line(request.text), Bool.init(answer:)) } ?? false
        // There is nobody to ask: the answer is yes.
        case .confirm: break
        case .edit, .save, .load, .history:
            session.complain(":\(request.kind.rawValue) is for the prompt: a front end has its notebook's text")
        }
        if session.hasFailed { answer.isDone = false }
        then(answer)
    }
}

/// The front end of the host.
extension NotebookKernel {
    package var isTerminal: Bool { false }
    package var screenColumns: Int { session.printer.columns }

    package func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        put(bytes, isError: toStandardError)
        return true
    }

    package func applicationWillTerminate() { session.endTutorial() }

    package func show(_ image: BitmapImage) { display(RichResult(host, session.printer).data(of: image)) }

    package func show(help text: String) -> Bool {
        session.show(help: text)
        return true
    }

    package func describe(_ table: LuaTable) -> String { session.describe(table) }

    package func help(onUnknown value: LuaValue) -> String? { session.help(onUnknown: value) }

    package func show(whole values: [LuaValue]) { session.show(whole: values) }

    package func consent(to access: PathConsent.Access, path: String) -> PathConsent {
        session.asking { ask(ConsentQuestion.text(access, path), PathConsent.init) } ?? .no
    }

    package func consent(toChanged program: ProgramGrant) -> Bool {
        session.asking { ask(ConsentQuestion.text(changed: program), Bool.init(answer:)) } ?? false
    }

    package func consent(toConnect endpoint: NetworkEndpoint) -> Bool {
        session.asking { ask(ConsentQuestion.text(endpoint), Bool.init(answer:)) } ?? false
    }
}
