import Files
import Foundation
import Glibc

/// A command that runs in this process as in one of its own: on a thread that has streams, an environment, a folder and
/// signals of its own, and the restrictions that the kernel puts on single threads.
package final class TestProcess: @unchecked Sendable {
    private let surroundings: ProcessSurroundings
    private let condition = NSCondition()
    // Guarded by the condition.
    private var end: Int32?

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - streams: the descriptors of standard input, output and error, each another one; closed at the end.
    ///   - environment: all of its variables; the time zone is UTC unless told.
    ///   - directory: where it runs; nil is where this process is.
    ///   - command: the command; gives the exit status.
    package init(
        streams: [Int32], environment: [String: String], directory: String?,
        _ command: @escaping @Sendable () -> Int32
    ) {
        surroundings = ProcessSurroundings(
            input: streams[0], output: StandardStream(streams[1], "standard output"),
            error: StandardStream(
                streams[2], "standard error", buffering: StandardStream.Buffering.none, triesAgain: true),
            environment: ["TZ": "UTC"].merging(environment) { $1 })
        let thread = Thread { [self] in
            if let directory, !Self.leaveFolder() || chdir(directory) != 0 { return finish(71, streams) }
            finish(ProcessSurroundings.$current.withValue(surroundings, operation: command), streams)
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Gives this thread a folder of its own; false when the kernel refuses.
    private static func leaveFolder() -> Bool {
        // unshare(2) with CLONE_FS, neither of which Swift's Glibc declares.
        guard let function = dlsym(nil, "unshare") else { return false }
        return unsafeBitCast(function, to: (@convention(c) (Int32) -> Int32).self)(0x200) == 0
    }

    private func finish(_ status: Int32, _ streams: [Int32]) {
        condition.withLock {
            end = status
            condition.broadcast()
        }
        for stream in streams { close(stream) }
    }

    /// How it ended; nil while it runs.
    package var status: ExitStatus? { condition.withLock { end.map(ExitStatus.exited) } }

    /// Sends it a signal, of those that the program handles.
    package func signal(_ number: Int32) {
        precondition([SIGINT, SIGTERM, SIGHUP, SIGWINCH].contains(number), "it would be the whole process's")
        surroundings.signal(number)
    }

    /// Waits for its end; nil if that does not come in time.
    package func wait(seconds: Double) -> ExitStatus? {
        let limit = Date(timeIntervalSinceNow: seconds * Project.patience)
        return condition.withLock {
            while end == nil, condition.wait(until: limit) {}
            return end.map(ExitStatus.exited)
        }
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - input: what standard input gives before its end.
    ///   - environment: all of its variables.
    ///   - directory: where it runs; nil is where this process is.
    ///   - timeout: seconds until this throws.
    ///   - command: the command; gives the exit status.
    /// - Returns: its status and what it wrote.
    /// - Throws: `TestFailure` when it does not end in time.
    package static func run(
        input: String = "", environment: [String: String], directory: String? = nil, timeout: Double = 120,
        _ command: @escaping @Sendable () -> Int32
    ) throws -> ProcessOutput {
        let (source, output, error) = (try Pipe.make(), try LimitedFile(nil), try LimitedFile(nil))
        let process = TestProcess(
            streams: [source.readEnd] + [output, error].map { fcntl($0.descriptor, F_DUPFD_CLOEXEC, 3) },
            environment: environment,
            directory: directory, command)
        // A command that does not read its input is no error.
        Glibc.signal(SIGPIPE, SIG_IGN)
        input.utf8.withContiguousStorageIfAvailable { _ = write(source.writeEnd, $0.baseAddress, $0.count) }
        close(source.writeEnd)
        guard let status = process.wait(seconds: timeout) else {
            process.signal(SIGTERM)
            let shown = String(decoding: output.bytes, as: UTF8.self)
            throw TestFailure("the command did not end in \(timeout * Project.patience) s; it wrote:\n\(shown)")
        }
        return ProcessOutput(status: status, standardOutput: output.bytes, standardError: error.bytes)
    }
}
