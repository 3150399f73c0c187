import Foundation
import Glibc
import Synchronization

/// What a process that has ended left behind.
package struct ProcessOutput: Sendable {
    /// How it ended.
    package let status: ExitStatus
    /// What it wrote to standard output.
    package let standardOutput: [UInt8]
    /// What it wrote to standard error.
    package let standardError: [UInt8]

    /// Standard output as text.
    package var stdout: String { String(decoding: standardOutput, as: UTF8.self) }
    /// Standard error as text.
    package var stderr: String { String(decoding: standardError, as: UTF8.self) }
}

/// Runs a command to its end.
///
/// - Parameters:
///   - command: a path, or a name that PATH finds.
///   - arguments: what it gets after its name.
///   - input: what standard input gives before its end.
///   - environment: the whole environment; nil is this process's own.
///   - directory: where it runs; nil is where this process is.
///   - timeout: seconds until it is killed, which throws with what it had written.
/// - Returns: its status and what it wrote.
/// - Throws: `TestFailure` when it does not start or does not end in time.
package func run(
    _ command: String, _ arguments: [String] = [], input: some Sequence<UInt8> = [UInt8](),
    environment: [String: String]? = nil, directory: String? = nil, timeout: Double = 120
) throws -> ProcessOutput {
    let toChild = try Pipe.make()
    let output = try Pipe.make()
    let error = try Pipe.make()
    let actions: [Spawn.FileAction] = [
        .duplicate(toChild.readEnd, to: 0), .duplicate(output.writeEnd, to: 1), .duplicate(error.writeEnd, to: 2),
    ]
    let started = Result {
        try Spawn.start(
            command, arguments, environment: environment ?? ProcessInfo.processInfo.environment, directory: directory,
            actions: actions)
    }
    for descriptor in [toChild.readEnd, output.writeEnd, error.writeEnd] { close(descriptor) }
    defer { for descriptor in [output.readEnd, error.readEnd] { close(descriptor) } }
    let pid: pid_t
    do { pid = try started.get() } catch {
        close(toChild.writeEnd)
        throw error
    }

    var exchange = Exchange(
        input: Array(input), inputEnd: toChild.writeEnd, outputEnd: output.readEnd, errorEnd: error.readEnd)
    let ended = exchange.run(until: Date(timeIntervalSinceNow: timeout * Project.patience))
    if !ended { kill(pid, SIGKILL) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    let result = ProcessOutput(
        status: ExitStatus(waitStatus: status), standardOutput: exchange.output, standardError: exchange.error)
    guard ended else {
        throw TestFailure(
            "\(command) did not end in \(timeout * Project.patience) s; it wrote:\n\(result.stdout)\n\(result.stderr)")
    }
    return result
}

/// Runs a command to its end, with text for its standard input.
package func run(
    _ command: String, _ arguments: [String] = [], input: String, environment: [String: String]? = nil,
    directory: String? = nil, timeout: Double = 120
) throws -> ProcessOutput {
    try run(
        command, arguments, input: Array(input.utf8), environment: environment, directory: directory, timeout: timeout)
}

struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    static func make() throws -> Pipe {
        var ends: [Int32] = [-1, -1]
        let made = Spawn.lock.withLock { _ in
            pipe(&ends) == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        }
        guard made else { throw TestFailure("no pipe: \(String(cString: strerror(errno)))") }
        return Pipe(readEnd: ends[0], writeEnd: ends[1])
    }
}

/// The conversation with a child: its input given and both its outputs taken at once, so that no side waits for another.
private struct Exchange {
    var output: [UInt8] = []
    var error: [UInt8] = []
    private let input: [UInt8]
    private var given = 0
    private var inputEnd: Int32
    private var outputEnd: Int32
    private var errorEnd: Int32

    init(input: [UInt8], inputEnd: Int32, outputEnd: Int32, errorEnd: Int32) {
        self.input = input
        self.inputEnd = inputEnd
        self.outputEnd = outputEnd
        self.errorEnd = errorEnd
        // A child that does not read its input must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        _ = fcntl(inputEnd, F_SETFL, O_NONBLOCK)
    }

    /// Goes on until both outputs are at their end; false when the deadline came first.
    mutating func run(until deadline: Date) -> Bool {
        if input.isEmpty { closeInput() }
        defer { closeInput() }
        while outputEnd >= 0 || errorEnd >= 0 {
            let milliseconds = Int32(clamping: Int(deadline.timeIntervalSinceNow * 1000))
            if milliseconds <= 0 { return false }
            var descriptors = [
                pollfd(fd: outputEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errorEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: inputEnd, events: Int16(POLLOUT), revents: 0),
            ]
            if poll(&descriptors, 3, milliseconds) < 0 { continue }
            if descriptors[0].revents != 0 && !Self.take(outputEnd, into: &output) { outputEnd = -1 }
            if descriptors[1].revents != 0 && !Self.take(errorEnd, into: &error) { errorEnd = -1 }
            if descriptors[2].revents != 0 { give() }
        }
        return true
    }

    private mutating func give() {
        let count = input[given...].withUnsafeBytes { write(inputEnd, $0.baseAddress, $0.count) }
        if count > 0 { given += count }
        if given == input.count || (count < 0 && errno != EAGAIN && errno != EINTR) { closeInput() }
    }

    private mutating func closeInput() {
        if inputEnd >= 0 { close(inputEnd) }
        inputEnd = -1
    }

    private static func take(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &chunk, chunk.count)
        if count > 0 { bytes.append(contentsOf: chunk[..<count]) }
        return count > 0 || (count < 0 && errno == EINTR)
    }
}
