import Foundation
import Synchronization

/// Ends the test process, with the name of what hangs, when a test that cannot be stopped from outside does not end. It
/// asserts nothing about time: it only keeps a hanging test from hanging everything.
package final class Watchdog: Sendable {
    private let isDone = Mutex(false)
    private static let step = 0.25

    /// Watches a test.
    ///
    /// - Parameters:
    ///   - name: what is said when it hangs.
    ///   - seconds: the time that it has.
    ///   - needsTasks: whether tasks have to run for its end. Tests that block a thread hold up all tasks, for minutes on two
    ///     processors; that time does not count.
    package init(_ name: String, seconds: Double = 120, needsTasks: Bool = false) {
        let seconds = seconds * Project.patience
        Thread.detachNewThread { [weak self] in
            var left = seconds
            while left > 0 {
                guard let self, !self.isDone.withLock({ $0 }) else { return }
                Thread.sleep(forTimeInterval: Self.step)
                if needsTasks { Self.waitForTask() }
                left -= Self.step
            }
            guard let self, !self.isDone.withLock({ $0 }) else { return }
            FileHandle.standardError.write(Data("still running after \(seconds) seconds: \(name)\n".utf8))
            abort()
        }
    }

    package func done() { isDone.withLock { $0 = true } }

    /// Returns when a new task has run.
    private static func waitForTask() {
        let hasRun = DispatchSemaphore(value: 0)
        Task.detached { hasRun.signal() }
        hasRun.wait()
    }
}
