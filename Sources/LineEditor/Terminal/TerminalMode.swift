internal import Glibc

/// The mode of a terminal while a line is edited: every key at once, no echo, pastes marked, and all of it taken back.
///
/// Between ``enter()`` and ``leave()`` the kernel makes no signals of keys, unless the options ask for it; Control-C and
/// Control-Z are outcomes of the editor. Between ``run()`` and ``leave()`` they reach the running script as signals, and
/// all other keys wait as they were typed for the next line: neither echoed nor taken for the kernel's own editing.
/// Outside of both the terminal is as it was found. One thread at a time uses it.
public final class TerminalMode {
    /// What is asked of the terminal.
    public struct Options: Sendable {
        /// Whether Control-C, Control-Z and Control-\ go on raising signals.
        public var keepsSignals = false
        /// Whether Control-C raises its signal while a line is edited, too: then it can't come too early for what runs
        /// next, and the host passes it on to the editor.
        public var interruptsBySignal = false
        /// Whether pastes are marked (`ESC [ ? 2004 h`).
        public var marksPastes = true
        /// Whether changes of focus are reported (`ESC [ ? 1004 h`).
        public var reportsFocus = false
        /// Whether the kitty keyboard protocol is asked for, which tells Escape and Control-Enter apart.
        public var usesKeyboardProtocol = true

        public init() {}
    }

    private let input: Int32
    private let output: Int32
    private let options: Options
    private var original: termios?
    /// Whether a line is edited: the mode is in force.
    public private(set) var isEntered = false

    /// - Parameters:
    ///   - input: the descriptor that keys are read from.
    ///   - output: the descriptor that control sequences are written to.
    ///   - options: what is asked of the terminal.
    public init(input: Int32 = 0, output: Int32 = 1, options: Options = Options()) {
        self.input = input
        self.output = output
        self.options = options
    }

    deinit { leave() }

    /// Whether a line can be edited there: both are terminals, and `TERM` names one that knows control sequences.
    public static func supportsEditing(
        input: Int32 = 0, output: Int32 = 1, environment: (String) -> String?
    ) -> Bool {
        guard isatty(input) == 1, isatty(output) == 1 else { return false }
        let term = environment("TERM") ?? ""
        return !["", "dumb", "cons25", "emacs"].contains(term)
    }

    /// Whether the terminal wraps its lines anew when it becomes narrower; for ``Renderer/reflows``.
    public static func reflows(environment: (String) -> String?) -> Bool {
        let term = environment("TERM") ?? ""
        guard environment("TMUX") == nil else { return true }
        return environment("XTERM_VERSION") == nil && term != "linux" && !term.hasPrefix("screen")
    }

    /// Puts the mode in force. The state found is kept for ``leave()``; entering twice changes nothing.
    public func enter() throws(TerminalError) {
        guard !isEntered else { return }
        try set(options.keepsSignals ? .all : options.interruptsBySignal ? .interrupt : .none)
        isEntered = true
        write(sequences(entering: true))
    }

    /// Puts the mode in force in which something runs between two lines: keys wait, only their signals are made.
    public func run() throws(TerminalError) {
        if isEntered { write(sequences(entering: false)) }
        isEntered = false
        try set(.all)
    }

    /// Takes the mode back. Does nothing if it isn't in force. Safe to call on every way out.
    public func leave() {
        guard let found = original else { return }
        original = nil
        if isEntered { write(sequences(entering: false)) }
        isEntered = false
        _ = Self.set(found, on: input)
    }

    /// The keys that go on raising signals.
    enum Signals { case none, interrupt, all }

    private func set(_ signals: Signals) throws(TerminalError) {
        var found = original ?? termios()
        if original == nil {
            guard tcgetattr(input, &found) == 0 else { throw TerminalError("asked for its mode", errno) }
        }
        guard Self.set(Self.raw(from: found, signals), on: input) else {
            throw TerminalError("set to editing", errno)
        }
        original = found
    }

    /// The mode for editing made from the mode found: bytes as they come, one at a time, output as before.
    ///
    /// Return stays a line break, so that keys that were typed ahead are lines to whoever reads them.
    static func raw(from found: termios, _ signals: Signals = .none) -> termios {
        var raw = found
        raw.c_iflag &= ~tcflag_t(BRKINT | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        raw.c_cflag |= tcflag_t(CS8)
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
        if signals == .none { raw.c_lflag &= ~tcflag_t(ISIG) }
        withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
            bytes[Int(VMIN)] = 1
            bytes[Int(VTIME)] = 0
            if signals == .interrupt {
                bytes[Int(VQUIT)] = 0
                bytes[Int(VSUSP)] = 0
            }
        }
        return raw
    }

    private static func set(_ mode: termios, on descriptor: Int32) -> Bool {
        var mode = mode
        // What was typed ahead stays: the output drains, the input isn't flushed.
        while tcsetattr(descriptor, TCSADRAIN, &mode) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    func sequences(entering: Bool) -> String {
        var text = ""
        if options.marksPastes { text += entering ? "\u{1B}[?2004h" : "\u{1B}[?2004l" }
        if options.reportsFocus { text += entering ? "\u{1B}[?1004h" : "\u{1B}[?1004l" }
        // A terminal without the protocol ignores the request.
        if options.usesKeyboardProtocol { text += entering ? "\u{1B}[>1u" : "\u{1B}[<u" }
        return text
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            written += count
        }
    }
}
