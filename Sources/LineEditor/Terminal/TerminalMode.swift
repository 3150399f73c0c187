import CPlatform
internal import Platform

/// The terminal's mode while a line is edited: unbuffered keys without echo, bracketed pastes.
///
/// Between ``enter()`` and ``leave()`` keys raise no signals: Control-C and Control-Z are outcomes of the editor. Outside,
/// the original mode is restored. One thread at a time uses it.
public final class TerminalMode {
    /// The requested modes.
    package struct Options: Sendable {
        /// Whether Control-C, Control-Z and Control-\ still raise signals.
        package var keepsSignals = false
        /// Whether Control-C also raises its signal while a line is edited: it then cannot arrive too early for the
        /// next run, and the host forwards it to the editor.
        package var interruptsBySignal = false
        /// Whether pastes are bracketed (`ESC [ ? 2004 h`).
        package var marksPastes = true
        /// Whether changes of focus are reported (`ESC [ ? 1004 h`).
        package var reportsFocus = false
        /// Whether the kitty keyboard protocol is requested, which makes Escape and Control-Enter unambiguous.
        package var usesKeyboardProtocol = true

        /// Creates the usual options.
        package init() {}
    }

    private let input: Int32
    private let output: Int32
    private let options: Options
    private var original: termios?
    /// Whether the editing mode is active.
    package private(set) var isEntered = false
    /// Whether the terminal has its original mode.
    package var isLeft: Bool { original == nil }

    /// - Parameters:
    ///   - input: the descriptor for keys.
    ///   - output: the descriptor for control sequences.
    public convenience init(input: Int32 = 0, output: Int32 = 1) {
        self.init(input: input, output: output, options: Options())
    }

    /// The same with the modes that are requested.
    package init(input: Int32 = 0, output: Int32 = 1, options: Options) {
        self.input = input
        self.output = output
        self.options = options
    }

    deinit { leave() }

    /// Whether a line can be edited: both descriptors are terminals, and `TERM` names a type with control sequences.
    public static func supportsEditing(
        input: Int32 = 0, output: Int32 = 1, environment: (String) -> String?
    ) -> Bool {
        guard isatty(input) == 1, isatty(output) == 1 else { return false }
        let term = environment("TERM") ?? ""
        return !["", "dumb", "cons25", "emacs"].contains(term)
    }

    /// Whether the terminal rewraps its lines when it becomes narrower; for ``TerminalRenderer/reflows``.
    package static func reflows(environment: (String) -> String?) -> Bool {
        let term = environment("TERM") ?? ""
        guard environment("TMUX") == nil else { return true }
        return environment("XTERM_VERSION") == nil && term != "linux" && !term.hasPrefix("screen")
    }

    /// Enters the editing mode and saves the original mode for ``leave()``. Idempotent.
    public func enter() throws(TerminalError) {
        guard !isEntered else { return }
        try set(options.keepsSignals ? .all : options.interruptsBySignal ? .interrupt : .none)
        isEntered = true
        write(sequences(entering: true))
    }

    /// Enters the mode for a running script: keys wait, only Control-C, Control-Z and Control-\ act.
    package func run() throws(TerminalError) {
        if isEntered { write(sequences(entering: false)) }
        isEntered = false
        try set(.all)
    }

    /// Restores the original mode, if changed. Safe to call on every exit path.
    public func leave() {
        guard let found = original else { return }
        original = nil
        if isEntered { write(sequences(entering: false)) }
        isEntered = false
        _ = Self.set(found, on: input)
    }

    /// The keys that raise signals.
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

    /// The editing mode, derived from the original one: unbuffered input, unchanged output.
    ///
    /// Return stays a line break, so that keys typed ahead are lines for any reader.
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
        // Keys typed ahead are kept: the output drains, the input is not flushed.
        while tcsetattr(descriptor, TCSADRAIN, &mode) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// The sequences that restore the terminal when the process ends in the middle of a line: those of ``leave()``, the
    /// cursor, and plain style.
    package var restoringSequences: String { sequences(entering: false) + "\u{1B}[?25h\u{1B}[0m\r\n" }

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
        // A terminal that is gone needs no mode.
        _ = cubby_write(output, bytes, bytes.count)
    }
}

/// The size of a terminal in characters.
public struct TerminalSize: Hashable, Sendable {
    /// The width in characters.
    public var columns: Int
    /// The height in lines.
    public var rows: Int
    /// The size of the text area in pixels; 0 where unknown.
    package var pixelWidth: Int
    /// The height of the text area in pixels; 0 where unknown.
    package var pixelHeight: Int

    /// Creates a size.
    public init(columns: Int, rows: Int, pixelWidth: Int = 0, pixelHeight: Int = 0) {
        self.columns = columns
        self.rows = rows
        self.pixelWidth = pixelWidth
        self.pixelHeight = pixelHeight
    }

    /// The size of a descriptor's terminal; nil if it is not a terminal, or its size is unknown.
    public init?(descriptor: Int32) {
        var (columns, rows, width, height): (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)
        guard cubby_tty_size(descriptor, &columns, &rows, &width, &height) == 0, columns > 0, rows > 0 else {
            return nil
        }
        self.init(columns: Int(columns), rows: Int(rows), pixelWidth: Int(width), pixelHeight: Int(height))
    }
}

/// The terminal refused a mode.
public struct TerminalError: Error, Sendable, CustomStringConvertible {
    /// The system's error number.
    public let code: Int32
    /// The message: the problem and the remedy.
    public let description: String

    init(_ action: String, _ code: Int32) {
        self.code = code
        let reason = String(cString: strerror(code))
        description = "The terminal could not be \(action): \(reason). Lines can be read without editing (TERM=dumb)."
    }
}
