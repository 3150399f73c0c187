package import Application
import Files
import Glibc
import LineEditor
package import Lua

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
