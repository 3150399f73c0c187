import Application
package import Files
import Glibc
import Lua
import Synchronization

/// A connection to a client. Once the host exists, one thread reads and another writes.
package final class DebugConnection: Sendable {
    /// The receiver of wake-ups: the host's loop, and a running script.
    struct Receiver: Sendable {
        let notifier: EventNotifier
        let interrupter: LuaInterrupter
    }

    let input: Int32
    let output: Int32
    let inbox = DebugInbox()
    let outbox: DebugOutbox
    private let receiver = Mutex<Receiver?>(nil)

    /// - Parameters:
    ///   - input: a descriptor; closed by this object.
    ///   - output: the same descriptor or another, closed likewise.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
        outbox = DebugOutbox(output)
    }

    deinit {
        close(input)
        if output != input { close(output) }
    }

    /// Takes the standard streams from scripts: their standard input is empty, and output that bypasses the host goes
    /// to standard error.
    ///
    /// - Throws: `FileError` when no descriptors are left.
    package static func standardStreams() throws(FileError) -> DebugConnection {
        let input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0, output >= 0, nothing >= 0, dup2(nothing, STDIN_FILENO) >= 0,
            dup2(STDERR_FILENO, STDOUT_FILENO) >= 0
        else { throw FileError(.open, "the standard streams", code: errno) }
        close(nothing)
        return DebugConnection(input: input, output: output)
    }

    /// Reads once, blocking until bytes arrive.
    ///
    /// - Returns: false at the end.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return inbox.feed(buffer[..<max(count, 0)])
        }
    }

    /// Waits for bytes.
    ///
    /// - Parameter deadline: nil for no limit.
    /// - Returns: false at the deadline.
    func awaitInput(until deadline: MonotonicTime?) -> Bool {
        while true {
            let left = deadline.map { $0.seconds(since: .now()) }
            if let left, left <= 0 { return false }
            var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, left.map { Int32($0 * 1000) + 1 } ?? -1) > 0 { return true }
        }
    }

    /// Sets the receiver of wake-ups.
    func wake(_ receiver: Receiver?) { self.receiver.withLock { $0 = receiver } }

    /// Starts both threads; they keep the connection open.
    ///
    /// - Returns: false if one cannot be created.
    func start() -> Bool {
        let isWriting = DetachedThread.start { [self] in
            outbox.run()
            shutdown(input, Int32(SHUT_RDWR))
        }
        guard isWriting else {
            outbox.abandon()
            return false
        }
        return DetachedThread.start { [self] in
            var goesOn = true
            while goesOn {
                goesOn = read()
                receiver.withLock {
                    $0?.notifier.notify()
                    // The interrupt comes last: a running script polls for notifications once.
                    $0?.interrupter.interrupt(.events)
                }
            }
        }
    }

    /// Ends a connection that was started.
    ///
    /// - Parameter waits: whether to wait until the queued messages are written.
    func end(waits: Bool) {
        wake(nil)
        outbox.close()
        if waits { outbox.waitForEnd() }
    }
}
