package import Application
package import Files
import Glibc
import LineEditor
package import Lua
import Scripting

/// The prompt's side of `cubby attach`: greets the host, then runs one entry, or serves a prompt.
package final class AttachClient {
    /// The exit statuses of a prompt.
    package enum Status {
        package static let done: Int32 = 0
        /// An entry failed.
        package static let failed: Int32 = 1
        /// The host refuses this prompt.
        package static let denied: Int32 = 69
        /// The host or the output's reader is gone.
        package static let lost: Int32 = 74
        /// The host does not answer.
        package static let silent: Int32 = 75
        package static let interrupted: Int32 = 130
    }

    /// Seconds without an answer after which the host's state is checked.
    static let patience = 1.0

    private let channel: Channel
    private let container: ApplicationContainer
    private let loop: EventLoop
    private let look: () -> HostSilence
    /// Seconds without an answer after which it gives up; nil: never.
    private let timeout: Double?
    private var announcesBeginning = false
    private var screen: AttachScreen

    /// - Parameters:
    ///   - descriptor: a connected socket; closed by this object.
    ///   - container: the host's container.
    ///   - loop: the thread's loop.
    ///   - key: the user's.
    ///   - isPrompt: whether to serve a prompt, not run one entry.
    ///   - timeout: the seconds after which it gives up a host that does not answer or is suspended; nil to wait.
    ///   - look: finds the reason for the host's silence.
    package init(
        _ descriptor: Int32, to container: ApplicationContainer, loop: EventLoop, key: AccessKey, isPrompt: Bool,
        timeout: Double? = nil,
        look: @escaping () -> HostSilence
    ) {
        self.timeout = timeout
        channel = Channel(AttachSocket(descriptor), loop: loop)
        self.container = container
        self.loop = loop
        self.look = look
        screen = AttachScreen(
            size: Console.size,
            isTerminal: StandardStream.output.isTerminal, isPrompt: isPrompt)
        screen.isEditing = isPrompt && Console.canEdit
        screen.environment = AttachScreen.environment(ProcessEnvironment.value)
        var greeting = screen
        greeting.key = key.text
        channel.send(AttachMessage(.hello, greeting.json))
    }

    /// Waits for the host's greeting, and shows the reason if it does not arrive. Ctrl-C must end this process
    /// meanwhile.
    ///
    /// - Returns: nil after a greeting; else the exit status.
    package func greet() -> Int32? {
        var hasReported = false
        let start = MonotonicTime.now()
        while true {
            switch channel.next(patience: Self.patience) {
            case .message(let message) where message.kind == .banner:
                let banner = AttachBanner(json: message.bytes)
                guard let banner, banner.version == AttachMessage.version else {
                    let versions = (prompt: AttachMessage.version, host: banner?.version ?? 1)
                    Self.say("cannot attach: \(AttachBanner.mismatch(prompt: versions.prompt, host: versions.host))")
                    return Status.denied
                }
                announcesBeginning = banner.announcesBeginning
                if screen.isPrompt, isatty(StandardDescriptor.input) == 1 {
                    let text = WrappedText.wrapped(VisibleText.escaped(banner.text), to: screen.size.columns)
                    Self.put(Array(text.utf8))
                }
                return nil
            case .message(let message) where message.kind == .denied:
                Self.say("cannot attach: \(VisibleText.line(message.text))")
                return Status.denied
            case .message, .end:
                Self.say("the host closed the connection before it answered")
                return Status.lost
            case .silence:
                if hasGivenUp(since: start) { return Status.silent }
                if !hasReported, timeout == nil { Self.say("\(look().text). Waiting; Ctrl-C leaves") }
                hasReported = true
            }
        }
    }

    /// Whether the host has been silent for too long; then the reason is shown.
    private func hasGivenUp(since start: MonotonicTime) -> Bool {
        guard let timeout, start.advanced(by: timeout) <= .now() else { return false }
        Self.giveUp(look(), after: timeout)
        return true
    }

    /// Shows why no answer is awaited any longer.
    package static func giveUp(_ silence: HostSilence, after timeout: Double) {
        let seconds = timeout == timeout.rounded() ? "\(Int(timeout))" : "\(timeout)"
        say("\(silence.text). No answer within \(seconds) s")
    }

    /// Runs one entry.
    ///
    /// - Parameter code: Lua text.
    /// - Returns: the exit status.
    package func run(_ code: String) -> Int32 {
        var hasReported = false
        channel.send(AttachMessage(.entry, code))
        var hasBegun = !announcesBeginning
        var heard = MonotonicTime.now()
        while true {
            switch channel.next(patience: Self.patience) {
            case .message(let message):
                heard = .now()
                hasBegun = true
                switch message.kind {
                case .output, .page:
                    if !Self.put(message.bytes) { return Status.lost }
                case .errors:
                    if !Self.put(message.bytes, toStandardError: true) { return Status.lost }
                case .request:
                    // A single entry needs no confirmation: the answer is yes. Files and the history need a prompt.
                    let isDone = TerminalRequest(json: message.bytes)?.kind == .confirm
                    if !isDone { Self.say("this command needs a prompt") }
                    channel.send(AttachMessage(.answer, TerminalAnswer(isDone: isDone).json))
                case .done: return Status.done
                case .failed: return Status.failed
                default: break
                }
            case .end:
                Self.say("the host has ended")
                return Status.lost
            case .silence:
                let silence = look()
                // A long entry is quiet, too.
                if hasBegun, !silence.isSuspended { heard = .now() }
                if hasGivenUp(since: heard) { return Status.silent }
                guard !hasReported, silence.isSuspended, timeout == nil else { continue }
                hasReported = true
                Self.say("\(silence.text). Ctrl-C leaves")
            }
        }
    }

    /// Serves a prompt until Ctrl-D or the host's end.
    ///
    /// - Parameter signals: the process's signals.
    /// - Returns: the exit status.
    /// - Throws: `LuaError` for lack of memory.
    package func run(_ signals: SignalSource) throws(LuaError) -> Int32 {
        try AttachPrompt(
            channel, to: container, loop: loop, screen: screen, timeout: timeout, signals: signals,
            look: look
        ).run()
    }

    // MARK: Writing

    static func say(_ text: String) { put(Array("cubby: \(text)\n".utf8), toStandardError: true) }

    /// Writes bytes; false when the reader is gone.
    @discardableResult
    static func put(_ bytes: [UInt8], toStandardError: Bool = false) -> Bool {
        let stream = toStandardError ? StandardStream.error : .output
        do throws(FileError) {
            try stream.write(bytes)
            try stream.flush()
            return true
        } catch { return false }
    }
}

/// The reason for a host's silence, as far as another process can tell.
package struct HostSilence: Sendable {
    /// The message for the user: which host is silent, and how to continue.
    package var text: String
    package var isSuspended: Bool

    /// - Parameters:
    ///   - text: the message for the user.
    ///   - isSuspended: whether the host's process is stopped.
    package init(text: String, isSuspended: Bool) {
        self.text = text
        self.isSuspended = isSuspended
    }
}

/// The host's side of `cubby status`: takes one question on a connection, answers it between the host's other work, and
/// ends. It is no prompt: nothing of the scripts' state changes.
final class StatusAnswer {
    /// Seconds within which the question must be there and the answer taken.
    private static let limit = 10.0

    private unowned let host: ScriptHost
    private let channel: Channel
    private var watch: LoopWatch?
    private var timer: LoopTimer?
    private let completion: (StatusAnswer) -> Void

    /// - Parameters:
    ///   - host: outlives the answer.
    ///   - socket: the connection.
    ///   - completion: called once, at its end.
    init(_ host: ScriptHost, _ socket: AttachSocket, completion: @escaping (StatusAnswer) -> Void) {
        (self.host, self.completion) = (host, completion)
        channel = Channel(socket, loop: host.loop)
        watch = host.loop.watch(socket.descriptor) { [unowned self] _ in receive() }
        timer = host.loop.after(Self.limit) { [unowned self] in end() }
    }

    private func receive() {
        guard channel.receive() else { return end() }
        do throws(AttachDecoder.Problem) {
            guard let message = try channel.message() else { return }
            watch?.cancel()
            answer(message)
        } catch { end() }
    }

    private func answer(_ message: AttachMessage) {
        if message.kind == .status, host.socket?.key.isShown(by: message.text) == true {
            channel.send(AttachMessage(.status, host.statusJSON))
        } else {
            channel.send(.otherKey)
        }
        if channel.isEmpty { return end() }
        channel.queue.onDrained = { [unowned self] in end() }
        channel.queue.onBroken = { [unowned self] in end() }
    }

    private func end() {
        guard timer != nil else { return }
        cancel()
        completion(self)
    }

    func cancel() {
        watch?.cancel()
        timer?.cancel()
        timer = nil
        channel.socket.end()
    }
}

/// The other side: asks a host for its state.
package enum StatusQuestion {
    package enum Answer: Sendable {
        /// The JSON object of the host.
        case status([UInt8])
        /// The reason why the host does not answer this user or this version.
        case denied(String)
        /// Nothing came in time.
        case silence
        /// The host ended, or closed the connection.
        case end
    }

    /// Asks, and waits for the answer.
    ///
    /// - Parameters:
    ///   - descriptor: a connected socket, which is closed.
    ///   - key: the user's.
    ///   - patience: the longest wait in seconds.
    /// - Returns: the answer.
    /// - Throws: `FileError` without descriptors.
    package static func ask(_ descriptor: Int32, key: AccessKey, patience: Double) throws(FileError) -> Answer {
        let socket = AttachSocket(descriptor)
        let channel = Channel(socket, loop: try EventLoop())
        channel.send(AttachMessage(.status, key.text))
        switch channel.next(patience: patience) {
        case .message(let message):
            return switch message.kind {
            case .status: .status(message.bytes)
            case .denied: .denied(message.text)
            default: .denied("the host is another version of cubby, which has no status")
            }
        case .silence: return .silence
        case .end: return .end
        }
    }
}
