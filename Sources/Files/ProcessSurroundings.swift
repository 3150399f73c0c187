import Glibc
import Synchronization

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
