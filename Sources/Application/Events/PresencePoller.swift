/// Reports when the process enters or leaves the foreground.
///
/// It polls, because the shell's `fg` of a running job sends no signal.
package final class PresencePoller {
    /// The default polling interval in seconds.
    package static let interval = 0.25

    package private(set) var last: Terminal.Presence
    private let look: () -> Terminal.Presence
    private let handler: (Terminal.Presence) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - look: reads `Terminal.presence`.
    ///   - handler: called when the presence has changed.
    package init(look: @escaping () -> Terminal.Presence, handler: @escaping (Terminal.Presence) -> Void) {
        self.look = look
        self.handler = handler
        last = look()
    }

    deinit { timer?.cancel() }

    /// Starts polling.
    ///
    /// - Parameters:
    ///   - loop: runs the timer.
    ///   - interval: seconds.
    package func start(on loop: EventLoop, every interval: Double = PresencePoller.interval) {
        timer?.cancel()
        timer = loop.every(interval) { [weak self] in self?.check() }
    }

    package func stop() {
        timer?.cancel()
        timer = nil
    }

    /// Polls without a report, for callers that act on the result. Call it after every continuation: otherwise a later
    /// return to the foreground is not reported as a change.
    ///
    /// - Returns: the presence.
    package func refresh() -> Terminal.Presence {
        last = look()
        return last
    }

    /// Polls and reports a change, as before each prompt.
    ///
    /// - Returns: the presence.
    @discardableResult
    package func check() -> Terminal.Presence {
        let now = look()
        if now != last {
            last = now
            handler(now)
        }
        return now
    }
}
