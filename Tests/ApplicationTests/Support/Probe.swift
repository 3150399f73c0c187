import Application
import Foundation
import Synchronization

/// A process that does what an application does with signals, for the tests of job control to play with: this test
/// program itself, started again for one test.
enum Probe {
    /// Set in the probe; its value is the file that it writes its lines to, besides standard output.
    static let variable = "CUBBY_PROBE_LOG"
    private static let parked = Atomic<Int32>(-1)

    static var log: String? { ProcessEnvironment.value(variable) }

    /// The shell's command that starts the probe.
    static func command(log: String) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "\(variable)='\(log)' '\(program)' --testing-library swift-testing --filter SignalProbe"
    }

    /// Parks the main thread with the signals blocked. Swift's asynchronous `main` leaves it in `dispatchMain`, which
    /// waits with no signal blocked, and would take each with its default action; all other threads have them blocked.
    ///
    /// A process whose `main` is synchronous needs none of this: it calls `SignalMask.blockAtLaunch()` at the top.
    static func parkMainThread() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        parked.store(ends[1], ordering: .releasing)
        signal(SIGUSR1) { _ in
            SignalMask.blockAtLaunch()
            var byte: UInt8 = 0
            _ = write(Probe.parked.load(ordering: .acquiring), &byte, 1)
            while true { pause() }
        }
        kill(getpid(), SIGUSR1)
        var byte: UInt8 = 0
        _ = read(ends[0], &byte, 1)
    }

    static func say(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
        guard let log else { return }
        let file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        _ = write(file, line, line.count)
        close(file)
    }
}
