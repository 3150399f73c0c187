import Foundation
import Synchronization

/// Ends the test process, with the name of what hangs, when a test that cannot be stopped from outside does not end. It
/// asserts nothing about time: it only keeps a hanging test from hanging everything.
public final class Watchdog: Sendable {
    private let isDone = Mutex(false)

    public init(_ name: String, seconds: Double = 120) {
        let seconds = seconds * Project.patience
        let end = Date().addingTimeInterval(seconds)
        Thread.detachNewThread { [weak self] in
            while Date() < end {
                guard let self, !self.isDone.withLock({ $0 }) else { return }
                Thread.sleep(forTimeInterval: 0.25)
            }
            FileHandle.standardError.write(Data("still running after \(seconds) seconds: \(name)\n".utf8))
            abort()
        }
    }

    public func done() { isDone.withLock { $0 = true } }
}
