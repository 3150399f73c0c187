import Application
import Glibc
import Lua
import Scripting
import Stores
import Wording

/// One attached prompt, seen from the host: its entries are run between the host's other work, and what they write goes
/// to it.
final class AttachSession: HostFrontEnd {
    private unowned let host: ScriptHost
    private let descriptor: Int32
    private let inbox: AttachInbox
    private var notifier: EventNotifier?
    private var evaluator: Evaluator
    private var printer: ValuePrinter
    private var isEvaluating = false
    private var isScheduled = false
    private(set) var isEnded = false

    init?(_ host: ScriptHost, _ descriptor: Int32) {
        self.host = host
        self.descriptor = descriptor
        evaluator = Evaluator(host)
        printer = ValuePrinter(host)
        printer.isForTerminal = true
        inbox = AttachInbox(descriptor)
        // A prompt that is stopped and does not read must not hold the host up.
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let notifier = host.loop.notifier { [unowned self] in received() }
        self.notifier = notifier
        guard inbox.start(notifier, host.state.interrupter) else {
            host.loop.forget(notifier)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Something came, possibly between two steps of a running script: only an interrupt is for now.
    private func received() {
        if inbox.takeInterrupt(), isEvaluating { host.cancelForeground() }
        if inbox.isClosed, isEvaluating { host.cancelForeground() }
        guard !isScheduled, !isEvaluating, !isEnded else { return }
        isScheduled = true
        host.loop.after(0) { [weak self] in self?.work() }
    }

    private func work() {
        isScheduled = false
        while !isEnded, host.exitCode == nil, let message = inbox.nextEntry() {
            switch message.kind {
            case .hello: greet(message.text)
            case .entry: evaluate(message.text)
            default: end()
            }
        }
        if inbox.isClosed { end() }
    }

    private func greet(_ size: String) {
        let numbers = size.split(separator: " ").compactMap { Int($0) }
        if numbers.count == 2 {
            printer.columns = min(max(numbers[0], 20), 1000)
            printer.rows = min(max(numbers[1], 4), 1000)
        }
        say(.banner, Array(VisibleText.escaped(Banner.attached(host)).utf8))
    }

    private func evaluate(_ text: String) {
        isEvaluating = true
        let former = host.frontEnd
        host.frontEnd = self
        let start = MonotonicTime.now()
        let result = evaluator.evaluate(text)
        let seconds = MonotonicTime.now().seconds(since: start)
        var isGood = true
        switch result {
        case .success(let values):
            let shown = values.isEmpty ? "" : printer.text(values, seconds: seconds)
            if !shown.isEmpty { say(.output, Array(shown.utf8)) }
        case .failure(let error):
            isGood = false
            let isSyntax = if case .syntax = error.kind { true } else { false }
            let message =
                error.kind == .cancelled
                ? "interrupted" : ErrorText.describe(error, sources: host.sources, traceback: !isSyntax)
            say(.errors, Array((message + "\n").utf8))
        }
        host.frontEnd = former
        isEvaluating = false
        say(isGood ? .done : .failed)
    }

    private func say(_ kind: AttachMessage.Kind, _ bytes: [UInt8] = []) {
        guard !isEnded else { return }
        if !AttachMessage(kind, bytes).send(to: descriptor) { end() }
    }

    /// The connection is over; the thread that reads from it sees its end.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        if let notifier { host.loop.forget(notifier) }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    // MARK: The front end of an entry

    /// What the other side is, only it knows: to be on the safe side, a terminal.
    var isTerminal: Bool { true }

    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        say(toStandardError ? .errors : .output, bytes)
        return true
    }

    func show(_ image: Image) { say(.output, Array((printer.picture(image) + "\n").utf8)) }
}
