import Application
import Images
import Lua
import Scripting
import Wording

/// The host's side of an attached prompt: its entries run between the host's other work, with their output sent to it.
///
/// The host never waits for the prompt: a waiting entry is a task, and output for a slow prompt is dropped.
final class AttachSession: HostFrontEnd {
    /// Seconds within which a connection must send a greeting.
    private static let greetingLimit = 10.0

    private unowned let host: ScriptHost
    private let socket: AttachSocket
    private let inbox: AttachInbox
    private let outbox: AttachOutbox
    private var notifier: EventNotifier?
    private var greetingTimer: LoopTimer?
    private var evaluator: Evaluator
    private var printer: ValuePrinter
    /// The running or waiting entry.
    private var entry: ScriptEntry?
    private var isScheduled = false
    private(set) var isEnded = false

    init?(_ host: ScriptHost, _ socket: AttachSocket) {
        self.host = host
        self.socket = socket
        evaluator = Evaluator(host)
        printer = ValuePrinter(host)
        printer.isForTerminal = true
        inbox = AttachInbox(socket)
        outbox = AttachOutbox(socket, loop: host.loop)
        let notifier = host.loop.notifier { [weak self] in self?.received() }
        self.notifier = notifier
        guard inbox.start(notifier, host.state.interrupter) else {
            host.loop.forget(notifier)
            return nil
        }
        outbox.onDrained = { [weak self] in self?.schedule() }
        outbox.onBroken = { [weak self] in self?.end() }
        greetingTimer = host.loop.after(Self.greetingLimit) { [weak self] in
            if let self, inbox.isSilent { end() }
        }
    }

    /// A message arrived, possibly between two instructions of a running script: only an interrupt and the end are
    /// handled now.
    private func received() {
        guard !isEnded else { return }
        if let entry, inbox.isOver || entry.number <= inbox.lastInterrupted { host.cancel(entry) }
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !isEnded else { return }
        isScheduled = true
        host.loop.after(0) { [weak self] in self?.work() }
    }

    /// Handles queued requests up to the next entry; the following ones wait for its end.
    private func work() {
        isScheduled = false
        if inbox.isClosed { return end() }
        while !isEnded, entry == nil, outbox.isEmpty, host.exitCode == nil, let request = inbox.next() {
            switch request {
            case .hello(let size): greet(size)
            case .entry(let text, let number):
                if number <= inbox.lastInterrupted { refuse(1, "interrupted") } else { evaluate(text, number) }
            case .overflow(let count):
                refuse(
                    count,
                    "\(count == 1 ? "an entry was" : "\(count) entries were") left out: at most \(AttachInbox.entryLimit) entries, \(AttachInbox.byteLimit >> 20) MB of text, wait for the host"
                )
            case .problem(let problem):
                refuse(0, problem.message)
                end()
            }
        }
    }

    private func greet(_ size: String) {
        greetingTimer?.cancel()
        let numbers = size.split(separator: " ").compactMap { Int($0) }
        if numbers.count == 2 {
            printer.columns = min(max(numbers[0], 20), 1000)
            printer.rows = min(max(numbers[1], 4), 1000)
        }
        outbox.send(AttachMessage(.banner, VisibleText.escaped(Banner.attached(host))))
    }

    /// Answers entries that are not run.
    private func refuse(_ count: Int, _ reason: String) {
        outbox.send(AttachMessage(.errors, reason + "\n"))
        for _ in 0..<count { outbox.send(AttachMessage(.failed)) }
    }

    private func evaluate(_ text: String, _ number: Int) {
        let entry = ScriptEntry(number: number, frontEnd: self) { [inbox] in
            inbox.isOver || number <= inbox.lastInterrupted
        }
        self.entry = entry
        let start = MonotonicTime.now()
        evaluator.begin(text, as: entry) { [self] result in
            show(result, of: entry, seconds: MonotonicTime.now().seconds(since: start))
            self.entry = nil
            schedule()
        }
    }

    /// Shows an entry's result. Scripts may define functions that format values: these run as part of the entry.
    private func show(_ result: Result<[LuaValue], LuaError>, of entry: ScriptEntry, seconds: Double) {
        guard !isEnded else { return }
        switch result {
        case .success(let values):
            let shown = values.isEmpty ? "" : host.work(for: entry) { printer.text(values, seconds: seconds) }
            if !shown.isEmpty { outbox.send(output: AttachMessage(.output, shown)) }
            outbox.send(AttachMessage(.done))
        case .failure(let error):
            if error.kind == .cancelled, let cause = host.exitCause {
                // The entry itself requested the exit. Any other exit interrupts the entry, and the connection's end
                // says so.
                if cause == .script { outbox.send(AttachMessage(.done)) }
                return
            }
            let isSyntax = if case .syntax = error.kind { true } else { false }
            let message =
                error.kind == .cancelled
                ? "interrupted"
                : host.work(for: entry) { ErrorText.describe(error, sources: host.sources, traceback: !isSyntax) }
            outbox.send(output: AttachMessage(.errors, message + "\n"))
            outbox.send(AttachMessage(.failed))
        }
    }

    /// Ends the connection and stops the entry; the reading thread sees the end of the stream.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        greetingTimer?.cancel()
        if let notifier { host.loop.forget(notifier) }
        outbox.flush()
        socket.end()
        if let entry { host.cancel(entry) }
    }

    // MARK: The front end of an entry

    /// The peer's output is unknown here, so it is treated as a terminal.
    var isTerminal: Bool { true }

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        if !isEnded { outbox.send(output: AttachMessage(toStandardError ? .errors : .output, bytes)) }
        return true
    }

    func show(_ image: Image) {
        if !isEnded { outbox.send(output: AttachMessage(.output, printer.picture(image) + "\n")) }
    }
}
