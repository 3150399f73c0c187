import Application
package import Files
import Glibc
import Lua
import Synchronization

/// A connection with a client: two threads read and write it, once the host is there.
package final class DebugConnection: Sendable {
    /// What a message wakes: the host's loop, and a running script.
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
    ///   - input: a descriptor, which this object closes.
    ///   - output: the same, or another.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
        outbox = DebugOutbox(output)
    }

    deinit {
        close(input)
        if output != input { close(output) }
    }

    /// The process's own streams, which scripts lose: theirs are empty, and what they write past the host goes to standard
    /// error.
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

    /// Reads once, and waits for it.
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

    /// Sets what a message wakes.
    func wake(_ receiver: Receiver?) { self.receiver.withLock { $0 = receiver } }

    /// Starts both threads; they keep the connection open.
    ///
    /// - Returns: false when one cannot be created.
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
                    // The interrupt comes last: a running script looks for notices once.
                    $0?.interrupter.interrupt(.events)
                }
            }
        }
    }

    /// Ends a connection that was started.
    ///
    /// - Parameter waits: whether to wait until the client has what was sent.
    func end(waits: Bool) {
        wake(nil)
        outbox.close()
        if waits { outbox.waitForEnd() }
    }
}
