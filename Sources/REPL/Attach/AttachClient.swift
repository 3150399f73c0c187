package import Application
import Glibc
import LineEditor
import Lua

/// The prompt of `cubby attach`: reads entries, sends them to the host, and shows the output.
package final class AttachClient {
    /// The exit statuses of a prompt.
    package enum Status {
        package static let done: Int32 = 0
        /// An entry failed.
        package static let failed: Int32 = 1
        /// The host refuses further prompts.
        package static let refused: Int32 = 69
        /// The host is gone, or the output's reader is.
        package static let lost: Int32 = 74
        package static let interrupted: Int32 = 130
    }

    /// Seconds without an answer after which the host's state is checked.
    private static let patience = 1.0

    private let socket: AttachSocket
    private let outbox: AttachOutbox
    private var decoder = AttachDecoder()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private let loop: EventLoop
    private let look: () -> HostSilence
    /// Checks entries for completeness; nothing runs in it.
    private let state: LuaState
    private let editor: LineEditor
    private var plain: PlainLineReader
    private let mode = TerminalMode()
    private let isEditing: Bool
    private let isTerminal = isatty(STDIN_FILENO) == 1
    private var input: LoopWatch?
    private var escapeTimer: LoopTimer?
    private var isWaiting = false
    /// Lines read from a file or a pipe while an entry ran.
    private var waiting: [String] = []
    private var isAtEnd = false
    private var hasFailed = false
    /// Whether the message about a suspended host was shown.
    private var hasReportedSuspension = false
    private var status: Int32?

    /// - Parameters:
    ///   - descriptor: a connected socket; closed by this object.
    ///   - loop: the thread's loop.
    ///   - look: finds the reason of the host's silence.
    /// - Throws: `LuaError` for lack of memory.
    package init(_ descriptor: Int32, loop: EventLoop, look: @escaping () -> HostSilence) throws {
        socket = AttachSocket(descriptor)
        outbox = AttachOutbox(socket, loop: loop)
        self.loop = loop
        self.look = look
        state = try LuaState()
        isEditing = TerminalMode.supportsEditing(environment: Environment.value)
        var services = EditorServices()
        let state = state
        services.completeness = { Evaluator.completeness(of: $0, in: state) }
        plain = PlainLineReader(services: services)
        let size = TerminalSize(descriptor: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
        let renderer = Renderer(
            columns: size.columns, rows: size.rows,
            palette: Palette.appropriate(
                isTerminal: isatty(STDOUT_FILENO) == 1, isForbidden: false, environment: Environment.value))
        editor = LineEditor(renderer: renderer, services: services, history: History())
        outbox.send(AttachMessage(.hello, "\(size.columns) \(size.rows)"))
    }

    deinit { state.close() }

    // MARK: One entry

    /// Waits for the host's greeting, and shows the reason when it does not come. Ctrl-C must end this process
    /// meanwhile.
    ///
    /// - Parameter shows: whether the greeting is shown.
    /// - Returns: nil after a greeting; else the exit status.
    package func greet(shows: Bool) -> Int32? {
        var hasReported = false
        while true {
            switch next(patience: hasReported ? nil : Self.patience) {
            case .message(let message) where message.kind == .banner:
                if shows, isTerminal { put(message.bytes, STDOUT_FILENO) }
                return nil
            case .message(let message) where message.kind == .refused:
                say("cannot attach: \(message.text)")
                return Status.refused
            case .message, .end:
                say("the host closed the connection before it answered")
                return Status.lost
            case .silence:
                hasReported = true
                say("\(look().text). Waiting; Ctrl-C leaves")
            }
        }
    }

    /// Runs one entry.
    ///
    /// - Parameter code: Lua text.
    /// - Returns: the exit status.
    package func run(_ code: String) -> Int32 {
        outbox.send(AttachMessage(.entry, code))
        while true {
            switch next(patience: hasReportedSuspension ? nil : Self.patience) {
            case .message(let message):
                switch message.kind {
                case .output where !put(message.bytes, STDOUT_FILENO): return Status.lost
                case .errors where !put(message.bytes, STDERR_FILENO): return Status.lost
                case .done: return Status.done
                case .failed: return Status.failed
                default: break
                }
            case .end:
                say("the host has ended")
                return Status.lost
            case .silence: reportSuspension()
            }
        }
    }

    private enum Answer {
        case message(AttachMessage)
        case end
        /// The wait timed out.
        case silence
    }

    /// Waits for the next message without the loop, and sends queued bytes meanwhile.
    private func next(patience: Double?) -> Answer {
        while true {
            do { if let message = try decoder.next() { return .message(message) } } catch { return .end }
            let events = Int32(POLLIN) | (outbox.isEmpty ? 0 : Int32(POLLOUT))
            var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, patience.map { Int32($0 * 1000) } ?? -1)
            if count == 0 { return .silence }
            if count < 0 { continue }
            if entry.revents & Int16(POLLOUT) != 0 { outbox.flush() }
            guard let received = socket.receive(into: &buffer, waits: false) else { return .end }
            decoder.append(buffer[..<received])
        }
    }

    private func reportSuspension() {
        guard !hasReportedSuspension, case let silence = look(), silence.isSuspended else { return }
        hasReportedSuspension = true
        say("\(silence.text). Ctrl-C leaves")
    }

    // MARK: The prompt

    /// Serves the prompt until Ctrl-D or the host's end.
    ///
    /// - Returns: the exit status.
    package func run() -> Int32 {
        let answers = loop.watch(socket.descriptor) { [unowned self] _ in answered() }
        let looks = loop.every(Self.patience) { [unowned self] in if isWaiting { reportSuspension() } }
        input = loop.watch(STDIN_FILENO) { [unowned self] _ in readable() }
        loop.onSignal = { [unowned self] signal in
            switch signal {
            case .interrupt: interrupt()
            case .terminate, .hangUp: status = Status.done
            case .stop: ProcessStopper.stopUntilContinued()
            default: break
            }
        }
        entryEnded()
        loop.run(until: { status != nil })
        mode.leave()
        answers.cancel()
        looks.cancel()
        return status ?? Status.done
    }

    private func answered() {
        let received = socket.receive(into: &buffer, waits: false)
        do {
            if let received { decoder.append(buffer[..<received]) }
            while status == nil, let message = try decoder.next() { show(message) }
            if received != nil { return }
        } catch {}
        mode.leave()
        put(Array("\nThe host has ended.\n".utf8), STDERR_FILENO)
        status = status ?? (isWaiting ? Status.lost : Status.done)
    }

    private func show(_ message: AttachMessage) {
        hasReportedSuspension = false
        switch message.kind {
        case .output where !put(message.bytes, STDOUT_FILENO): status = Status.lost
        case .errors where !put(message.bytes, STDERR_FILENO): status = Status.lost
        case .failed:
            hasFailed = true
            entryEnded()
        case .done: entryEnded()
        default: break
        }
    }

    /// The exit status of a script of entries; a person has seen the errors.
    private var statusAtEnd: Int32 { hasFailed && !isTerminal ? Status.failed : Status.done }

    private func entryEnded() {
        isWaiting = false
        if !waiting.isEmpty { return send(waiting.removeFirst()) }
        if isAtEnd {
            status = statusAtEnd
            return
        }
        input?.events = .readable
        let (prompt, continuation) = (StyledText("attached> ", .prompt), StyledText("… ", .continuationPrompt))
        if isEditing {
            try? mode.enter()
            perform(editor.begin(prompt: prompt, continuation: continuation))
        } else if isTerminal {
            perform(plain.begin(prompt: prompt, continuation: continuation))
        } else if !plain.isActive {
            perform(plain.begin(prompt: "", continuation: ""))
        }
    }

    private func interrupt() {
        if isWaiting {
            // A suspended host would not receive it.
            if hasReportedSuspension { return status = Status.interrupted }
            outbox.send(AttachMessage(.interrupt))
        } else if !isEditing {
            perform(plain.interrupt())
        }
    }

    private func readable() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return perform(isEditing ? [.endOfInput] : plain.end())
        }
        perform(isEditing ? editor.feed(bytes[..<count]) : plain.feed(bytes[..<count]))
        guard isEditing, editor.isWaiting else { return }
        escapeTimer?.cancel()
        escapeTimer = loop.after(0.04) { [unowned self] in perform(editor.flush()) }
    }

    private func perform(_ outcomes: [Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes, STDOUT_FILENO)
            case .submitted(let text): submitted(text)
            case .endOfInput:
                isAtEnd = true
                if isEditing { put([0x0A], STDOUT_FILENO) }
                if !isWaiting, waiting.isEmpty { status = statusAtEnd }
            case .suspend:
                mode.leave()
                ProcessStopper.stopUntilContinued()
                try? mode.enter()
                perform(editor.resumeDisplay())
            case .interrupt, .focus, .report: break
            }
        }
    }

    private func submitted(_ text: String) {
        if isWaiting { return waiting.append(text) }
        mode.leave()
        send(text)
    }

    private func send(_ text: String) {
        isWaiting = true
        // Reading pauses until everything is sent: a long file is not buffered.
        input?.events = []
        outbox.send(AttachMessage(.entry, text))
        // From a file or a pipe the next lines may be read already.
        if !isTerminal, !isAtEnd { perform(plain.begin(prompt: "", continuation: "")) }
    }

    // MARK: Writing

    private func say(_ text: String) { put(Array("cubby: \(text)\n".utf8), STDERR_FILENO) }

    /// Writes bytes; false when the reader is gone.
    @discardableResult
    private func put(_ bytes: [UInt8], _ target: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(target, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR, errno != EAGAIN { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }
}
