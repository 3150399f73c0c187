public import Application
import Glibc
import LineEditor
import Lua

/// The prompt of `cubby attach`: reads entries here, has them run there, shows what comes back.
public final class AttachClient {
    private let descriptor: Int32
    private let loop: EventLoop
    /// Only asked whether entries are complete; nothing runs in it.
    private let state: LuaState
    private let editor: LineEditor
    private var plain: PlainLineReader
    private let mode = TerminalMode()
    private let isEditing: Bool
    private let isTerminal = isatty(STDIN_FILENO) == 1
    private var input: LoopWatch?
    private var escapeTimer: LoopTimer?
    private var isWaiting = false
    /// Lines that came while an entry ran, when they come from a file or a pipe.
    private var waiting: [String] = []
    private var isAtEnd = false
    private var status: Int32?

    /// - Parameters:
    ///   - descriptor: connected to a host; closed with this.
    ///   - loop: of this thread.
    /// - Throws: `LuaError` for want of memory.
    public init(_ descriptor: Int32, loop: EventLoop) throws {
        self.descriptor = descriptor
        self.loop = loop
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
        _ = AttachMessage(.hello, Array("\(size.columns) \(size.rows)".utf8)).send(to: descriptor)
    }

    deinit {
        state.close()
        close(descriptor)
    }

    /// Runs one entry.
    ///
    /// - Parameter code: Lua text.
    /// - Returns: the exit status: 0, 1 for an error, 74 when the host went away.
    public func run(_ code: String) -> Int32 {
        guard AttachMessage(.entry, Array(code.utf8)).send(to: descriptor) else { return 74 }
        while let message = AttachMessage.receive(from: descriptor) {
            switch message.kind {
            case .output: put(message.bytes, STDOUT_FILENO)
            case .errors: put(message.bytes, STDERR_FILENO)
            case .done: return 0
            case .failed: return 1
            default: break
            }
        }
        return 74
    }

    /// Serves the prompt until Ctrl-D or the host's end.
    ///
    /// - Returns: the exit status.
    public func run() -> Int32 {
        let answers = loop.watch(descriptor) { [unowned self] _ in answered() }
        input = loop.watch(STDIN_FILENO) { [unowned self] _ in readable() }
        input?.events = []
        isWaiting = true
        loop.onSignal = { [unowned self] signal in
            switch signal {
            case .interrupt: interrupt()
            case .terminate, .hangUp: status = 0
            case .stop: ProcessStopper.stopUntilContinued()
            default: break
            }
        }
        loop.run(until: { status != nil })
        mode.leave()
        answers.cancel()
        return status ?? 0
    }

    // MARK: The host's side

    private func answered() {
        guard let message = AttachMessage.receive(from: descriptor) else {
            mode.leave()
            put(Array("\nThe host has ended.\n".utf8), STDERR_FILENO)
            status = 0
            return
        }
        switch message.kind {
        case .banner:
            if isTerminal { put(message.bytes, STDOUT_FILENO) }
            entryEnded()
        case .output: put(message.bytes, STDOUT_FILENO)
        case .errors: put(message.bytes, STDERR_FILENO)
        case .done, .failed: entryEnded()
        default: break
        }
    }

    private func entryEnded() {
        isWaiting = false
        if !waiting.isEmpty { return send(waiting.removeFirst()) }
        if isAtEnd {
            status = 0
            return
        }
        input?.events = .readable
        let (prompt, continuation) = (StyledText("attached> ", .prompt), StyledText("… ", .continuationPrompt))
        if isEditing {
            try? mode.enter()
            perform(editor.begin(prompt: prompt, continuation: continuation))
        } else if isTerminal {
            perform(plain.begin(prompt: prompt, continuation: continuation))
        } else {
            perform(plain.begin(prompt: "", continuation: ""))
        }
    }

    // MARK: This side

    private func interrupt() {
        if isWaiting {
            _ = AttachMessage(.interrupt).send(to: descriptor)
        } else if !isEditing {
            perform(plain.interrupt())
        }
    }

    private func readable() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return perform(isEditing ? [.endOfInput] : plain.end())
        }
        perform(isEditing ? editor.feed(buffer[..<count]) : plain.feed(buffer[..<count]))
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
                if !isWaiting, waiting.isEmpty { status = 0 }
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
        if isTerminal { input?.events = [] }
        if !AttachMessage(.entry, Array(text.utf8)).send(to: descriptor) { status = 74 }
        // From a file or a pipe the next lines may be read already.
        if !isTerminal, !isAtEnd { perform(plain.begin(prompt: "", continuation: "")) }
    }

    private func put(_ bytes: [UInt8], _ target: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(target, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR, errno != EAGAIN { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
