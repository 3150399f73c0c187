import CPlatform
import Glibc
import Synchronization

/// Standard output or standard error: everything that the process writes there goes through here, so that no failed
/// write passes in silence.
///
/// A failure is an error of ``write(_:)`` or ``flush()``, and it is counted in any case: ``loss`` says at the end how much
/// arrived and how much did not. After one, standard output fails for good: what has arrived is a beginning, without a
/// hole that nobody would notice. Standard error, with messages of their own, tries again. A reader that has closed its
/// pipe, or a terminal that is gone, wants no more: that is an error for the writer, and no loss.
package final class StandardStream: Sendable {
    package enum Buffering: Sendable, Equatable {
        case none
        case line
        case full(Int)
    }

    /// What could not be written.
    package struct Loss: Sendable, Equatable {
        /// The bytes that arrived.
        package let written: Int
        /// The bytes that did not.
        package let lost: Int
        /// The first failure's error number.
        package let code: Int32
    }

    private struct State {
        var buffer: [UInt8] = []
        var buffering: Buffering
        var written = 0
        var lost = 0
        /// The first failure's error number.
        var code: Int32?
        var isAbandoned = false
        var isLossReported = false
    }

    package static var output: StandardStream { ProcessSurroundings.current.output }
    package static var error: StandardStream { ProcessSurroundings.current.error }

    /// Whether the next text on the terminal begins a line, as far as this process knows.
    package static var isAtLineStart: Bool { ProcessSurroundings.current.endsLine.load(ordering: .relaxed) }

    /// Records that the terminal has echoed the end of a line.
    package static func recordEchoedLine() { ProcessSurroundings.current.endsLine.store(true, ordering: .relaxed) }

    /// Its name in messages.
    package let name: String
    package let descriptor: Int32
    package let isTerminal: Bool
    private let triesAgain: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - descriptor: the descriptor, which stays open.
    ///   - name: its name in messages.
    ///   - buffering: by default lines on a terminal, blocks elsewhere.
    ///   - triesAgain: whether writes after a failed one are tried.
    package init(_ descriptor: Int32, _ name: String, buffering: Buffering? = nil, triesAgain: Bool = false) {
        (self.descriptor, self.name, self.triesAgain) = (descriptor, name, triesAgain)
        isTerminal = isatty(descriptor) == 1
        state = Mutex(State(buffering: buffering ?? (isTerminal ? .line : .full(1 << 13))))
    }

    /// Writes bytes, or keeps them for the next flush.
    ///
    /// - Throws: `FileError` for these bytes or earlier ones in the buffer.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try check(state.withLock { put(bytes, &$0) })
    }

    /// Writes bytes, as above.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        try bytes.withBytes { (bytes) throws(FileError) in try write(bytes) }
    }

    /// Writes bytes whose writer goes on in any case: a failure is counted only.
    package func put(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { bytes in state.withLock { put(bytes, &$0) } }
    }

    package func put(_ text: String) { put(Array(text.utf8)) }

    /// Draws a text on a terminal that whatever is written there next erases, such as a bar: below what is there, in
    /// place of the former one. Elsewhere nothing is written.
    package func draw(status text: String) {
        guard isTerminal else { return }
        let surroundings = ProcessSurroundings.current
        state.withLock { state in
            _ = empty(&state)
            let start = surroundings.endsLine.exchange(true, ordering: .relaxed) ? "\r" : "\n"
            _ = deliver(Array("\(start)\(text)\u{1B}[K".utf8), &state)
            surroundings.hasStatus.store(true, ordering: .relaxed)
        }
    }

    /// Erases what ``draw(status:)`` has drawn.
    package func eraseStatus() {
        guard isTerminal else { return }
        state.withLock { eraseStatus(&$0) }
    }

    /// Writes what is in the buffer.
    ///
    /// - Throws: `FileError`; then it is lost.
    package func flush() throws(FileError) { try check(state.withLock { empty(&$0) }) }

    /// Changes the buffering, after a flush.
    package func setBuffering(_ buffering: Buffering) throws(FileError) {
        try check(
            state.withLock {
                $0.buffering = buffering
                return empty(&$0)
            })
    }

    /// Moves the position of a file, after a flush.
    ///
    /// - Returns: the new position from the start.
    package func seek(_ offset: Int, _ whence: Int32) throws(FileError) -> Int {
        try flush()
        let position = lseek(descriptor, off_t(offset), whence)
        if position < 0 { throw FileError(.write, name, code: errno) }
        return Int(position)
    }

    /// Whether a write has failed, for whatever reason.
    package var hasFailed: Bool { state.withLock { $0.code != nil || $0.isAbandoned } }

    /// Whether the reader has closed its pipe, or the terminal is gone.
    package var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// What could not be written so far; nil if nothing was lost.
    package var loss: Loss? {
        state.withLock { state in state.code.map { Loss(written: state.written, lost: state.lost, code: $0) } }
    }

    /// The loss, for the one who reports it: once.
    package func takeLoss() -> Loss? {
        state.withLock { state in
            guard let code = state.code, !state.isLossReported else { return nil }
            state.isLossReported = true
            return Loss(written: state.written, lost: state.lost, code: code)
        }
    }

    /// Writes the buffers, also C's own, which only an embedding program fills: before the process stops, and before
    /// another program writes. Failures are counted.
    package static func flushAll() {
        let output = output
        output.state.withLock { state in
            _ = output.empty(&state)
            output.flushC(&state)
        }
    }

    /// Occupies the descriptors of closed standard streams, so that no file of the program gets such a number, and with it
    /// what is printed. A write there remains an error, and so does a read. Before anything is opened.
    package static func holdClosedDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number: those below are open by now.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    // MARK: Under the lock

    private func put(_ bytes: UnsafeRawBufferPointer, _ state: inout State) -> Int32? {
        let limit =
            switch state.buffering {
            case .none: 0
            case .line: bytes.contains(0x0A) ? 0 : 1 << 13
            case .full(let size): size
            }
        let total = state.buffer.count + bytes.count
        guard total > limit, bytes.count >= 1 << 12 else {
            state.buffer.append(contentsOf: bytes)
            return total > limit ? empty(&state) : nil
        }
        let earlier = empty(&state)
        return pass(bytes, &state) ?? earlier
    }

    private func empty(_ state: inout State) -> Int32? {
        guard !state.buffer.isEmpty else { return nil }
        var buffer: [UInt8] = []
        swap(&buffer, &state.buffer)
        let code = buffer.withUnsafeBytes { pass($0, &state) }
        buffer.removeAll(keepingCapacity: true)
        swap(&buffer, &state.buffer)
        return code
    }

    private func pass(_ bytes: UnsafeRawBufferPointer, _ state: inout State) -> Int32? {
        if let code = state.code, !triesAgain {
            state.lost += bytes.count
            return code
        }
        // In order with what an embedding program has printed.
        if descriptor == STDOUT_FILENO { flushC(&state) }
        if isTerminal {
            eraseStatus(&state)
            if let endsLine = Self.endsLine(bytes) {
                ProcessSurroundings.current.endsLine.store(endsLine, ordering: .relaxed)
            }
        }
        return deliver(bytes, &state)
    }

    private func eraseStatus(_ state: inout State) {
        guard ProcessSurroundings.current.hasStatus.exchange(false, ordering: .relaxed) else { return }
        _ = deliver(Array("\r\u{1B}[K".utf8), &state)
    }

    private func deliver(_ bytes: [UInt8], _ state: inout State) -> Int32? {
        bytes.withUnsafeBytes { deliver($0, &state) }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, _ state: inout State) -> Int32? {
        let count = cubby_write(descriptor, bytes.baseAddress, bytes.count)
        let code = errno
        state.written += count
        guard count < bytes.count else { return nil }
        record(lost: bytes.count - count, code, &state)
        return code
    }

    /// Whether bytes end with a line, apart from styles behind it; nil if they are nothing but styles.
    static func endsLine(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        var end = bytes.count
        while end > 0 {
            guard bytes[end - 1] == UInt8(ascii: "m") else { return bytes[end - 1] == 0x0A }
            guard let start = bytes[..<(end - 1)].lastIndex(where: { !(0x30...0x3B).contains($0) }), start > 0,
                bytes[start] == UInt8(ascii: "["), bytes[start - 1] == 0x1B
            else { return false }
            end = start - 1
        }
        return nil
    }

    private func flushC(_ state: inout State) {
        let code = cubby_flush_output()
        if code != 0 { record(lost: 0, code, &state) }
    }

    private func record(lost count: Int, _ code: Int32, _ state: inout State) {
        guard code != EPIPE, !(code == EIO && isTerminal) else { return state.isAbandoned = true }
        state.lost += count
        state.code = state.code ?? code
    }

    private func check(_ code: Int32?) throws(FileError) {
        if let code { throw FileError(.write, name, code: code) }
    }
}

/// A process's own open descriptors, and their paths.
package enum StandardDescriptor {
    package static var input: Int32 { ProcessSurroundings.current.input }
    package static var output: Int32 { StandardStream.output.descriptor }
    package static var error: Int32 { StandardStream.error.descriptor }

    /// Takes standard input from scripts, which find it empty from now on.
    ///
    /// - Returns: another descriptor of it, which the caller closes.
    /// - Throws: `FileError` when no descriptors are left.
    package static func takeInput() throws(FileError) -> Int32 {
        let taken = fcntl(input, F_DUPFD_CLOEXEC, 3)
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard taken >= 0, nothing >= 0, dup2(nothing, input) >= 0 else {
            throw FileError(.open, "the standard streams", code: errno)
        }
        close(nothing)
        return taken
    }

    /// Reads a line of standard input, an answer to a question; nil at the end.
    package static func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while case let count = read(input, &byte, 1), count > 0 || (count < 0 && errno == EINTR) {
            if count > 0, byte == 0x0A { return String(decoding: line, as: UTF8.self) }
            if count > 0 { line.append(byte) }
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The descriptor of a path; nil for any other path.
    ///
    /// - Parameter path: an absolute path, unresolved: these names are links whose targets cannot be opened.
    /// - Returns: a descriptor.
    package static func descriptor(of path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return input
        case "/dev/stdout": return output
        case "/dev/stderr": return error
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"] where path.hasPrefix(folder) {
                guard let number = Int32(path.dropFirst(folder.count)), number >= 0 else { return nil }
                return number < 3 ? [input, output, error][Int(number)] : number
            }
            return nil
        }
    }
}

/// What a process has of whoever started it: its standard streams, its environment, and its signals.
///
/// A task local, not a parameter of everything: a thread that is bound to others runs a whole command as a process of
/// its own would, beside other such threads. The command and an embedding program have the process's own.
package final class ProcessSurroundings: Sendable {
    /// Those of the running code.
    @TaskLocal package static var current = ProcessSurroundings(
        input: STDIN_FILENO, output: StandardStream(STDOUT_FILENO, "standard output"),
        error: StandardStream(
            STDERR_FILENO, "standard error", buffering: StandardStream.Buffering.none, triesAgain: true),
        environment: nil)

    /// The descriptor of standard input.
    package let input: Int32
    package let output: StandardStream
    package let error: StandardStream
    /// Whether the last that was written to the terminal has ended its line.
    let endsLine = Atomic<Bool>(true)
    /// Whether a text is drawn on the terminal that the next one erases.
    let hasStatus = Atomic<Bool>(false)
    /// The variables; nil for the process's own.
    private let variables: Mutex<[String: String]?>
    private let signals = Mutex<Signals>(Signals())

    /// - Parameters:
    ///   - input: the descriptor of standard input.
    ///   - output: standard output.
    ///   - error: standard error.
    ///   - environment: the variables; nil for the process's own.
    package init(input: Int32, output: StandardStream, error: StandardStream, environment: [String: String]?) {
        (self.input, self.output, self.error) = (input, output, error)
        variables = Mutex(environment)
        // Also of an embedding program, as C's own stream is.
        if environment == nil { atexit { StandardStream.flushAll() } }
    }

    /// Whether they are the process's own: nothing else runs in it, and it may be limited, stopped and ended.
    package var areOfProcess: Bool { environment == nil }

    /// The variables, if they are not the process's own.
    package var environment: [String: String]? { variables.withLock { $0 } }

    /// The value of a variable; nil when it is not set.
    package func value(_ name: String) -> String? {
        guard let environment else { return getenv(name).map { String(cString: $0) } }
        return environment[name]
    }

    /// Sets a variable, for child processes as well.
    package func set(_ name: String, _ value: String) {
        let isOwn = variables.withLock { variables in
            variables?[name] = value
            return variables != nil
        }
        if !isOwn { setenv(name, value, 1) }
    }

    private struct Signals {
        var receiver: (@Sendable (Int32) -> Void)?
        /// Those that came before anybody took them.
        var pending: [Int32] = []
    }

    /// Sets who takes the signals that ``signal(_:)`` sends; nil for nobody.
    package func deliverSignals(to receiver: (@Sendable (Int32) -> Void)?) {
        signals.withLock { signals in
            signals.receiver = receiver
            guard let receiver else { return }
            for number in signals.pending { receiver(number) }
            signals.pending = []
        }
    }

    /// Sends a signal to the code that has these surroundings, as `kill` does it to a process.
    package func signal(_ number: Int32) {
        signals.withLock { signals in
            if let receiver = signals.receiver { receiver(number) } else { signals.pending.append(number) }
        }
    }
}
