import Application
import SharedItems

/// Waits for the server while the host's loop turns: Ctrl-C, Ctrl-Z, timers and the prompt go on.
///
/// An immediate answer is awaited without turns of the loop, so that handlers do not run within each commit.
final class LoopWaiter: PostgresWaiter {
    /// The host's loop; before it is set, a wait blocks.
    weak var loop: EventLoop?
    /// Whether the application has ended, which ends the wait.
    var hasEnded: () -> Bool = { false }
    /// Whether the loop currently turns for a wait.
    private(set) var isWaiting = false
    private var isInterrupted = false
    private let blocking = BlockingWaiter()
    /// Seconds within which a healthy server answers.
    private static let grace = 0.2

    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        guard let loop else { return try blocking.wait(for: descriptor, isWriting: isWriting, seconds: seconds) }
        if try blocking.wait(for: descriptor, isWriting: isWriting, seconds: min(seconds, Self.grace)) { return true }
        guard seconds > Self.grace else { return false }
        var isReady = false
        let watch = loop.watch(descriptor, for: isWriting ? [.readable, .writable] : .readable) { _ in isReady = true }
        (isWaiting, isInterrupted) = (true, false)
        defer {
            watch.cancel()
            isWaiting = false
        }
        let end = MonotonicTime.now().advanced(by: seconds - Self.grace)
        while !isReady {
            if isInterrupted || hasEnded() {
                throw PostgresError(
                    .cancelled,
                    "the wait for the server was interrupted: it may have made the commit, which is found out when it answers again"
                )
            }
            let left = end.seconds(since: .now())
            guard left > 0 else { return false }
            loop.runOnce(timeout: left)
        }
        return true
    }

    /// Ends a wait: Ctrl-C.
    func interrupt() { isInterrupted = true }
}
