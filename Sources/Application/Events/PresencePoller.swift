/// Tells when the process comes to the foreground or leaves it.
///
/// It has to look: the shell's `fg` of a job that runs sends no signal at all.
package final class PresencePoller {
    /// Seconds between two looks, unless told otherwise.
    package static let interval = 0.25

    package private(set) var last: Terminal.Presence
    private let look: () -> Terminal.Presence
    private let handler: (Terminal.Presence) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - look: finds out, `Terminal.presence`.
    ///   - handler: called when the answer is not what it was.
    package init(look: @escaping () -> Terminal.Presence, handler: @escaping (Terminal.Presence) -> Void) {
        self.look = look
        self.handler = handler
        last = look()
    }

    deinit { timer?.cancel() }

    /// Begins to look from time to time.
    ///
    /// - Parameters:
    ///   - loop: turns the timer.
    ///   - interval: seconds.
    package func start(on loop: EventLoop, every interval: Double = PresencePoller.interval) {
        timer?.cancel()
        timer = loop.every(interval) { [weak self] in self?.check() }
    }

    package func stop() {
        timer?.cancel()
        timer = nil
    }

    /// Looks now and remembers, without telling: for whoever acts on the answer by itself. Call it after every continuation,
    /// or a return to the foreground that follows would be no change.
    ///
    /// - Returns: the answer.
    package func refresh() -> Terminal.Presence {
        last = look()
        return last
    }

    /// Looks now, as before each prompt, and tells of a change.
    ///
    /// - Returns: the answer.
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
