import Application
import Glibc
import Logging
import Synchronization
import Testing

@Suite("StandardErrorLogHandler")
struct StandardErrorLogHandlerTests {
    final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    func logger(_ lines: Lines, _ form: StandardErrorLogHandler.Form) -> Logger {
        Logger(label: "test") { label in
            StandardErrorLogHandler(label: label, form: form, processName: "Homepwner") { line in
                lines.all.withLock { $0.append(line) }
            }
        }
    }

    @Test func isBareOnATerminal() {
        let lines = Lines()
        logger(lines, .bare).info("Saved all of the Items")
        logger(lines, .bare).debug("not this")
        logger(lines, .bare).warning("slow", metadata: ["seconds": "2", "hook": "backup"])
        #expect(lines.all.withLock { $0 } == ["Saved all of the Items\n", "slow hook=backup seconds=2\n"])
    }

    @Test func hasTheFormOfNSLogElsewhere() throws {
        let lines = Lines()
        logger(lines, .nsLog).info("Received memory warning.")
        let line = try #require(lines.all.withLock { $0.first })
        let pattern = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} Homepwner\[(\d+):[0-9a-f]+\] Received memory warning\.\n/
        let match = try #require(try pattern.wholeMatch(in: line))
        #expect(match.1 == "\(getpid())")
    }
}
