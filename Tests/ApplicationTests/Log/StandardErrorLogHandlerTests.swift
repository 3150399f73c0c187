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

    @Test("a run's identifier is in each line but on a terminal, and once where a message has several")
    func run() {
        let lines = Lines()
        func log(_ form: StandardErrorLogHandler.Form, _ message: Logger.Message) -> String {
            lines.all.withLock { $0 = [] }
            let logger = Logger(label: "a") { label in
                StandardErrorLogHandler(label: label, form: form, processName: "p", run: "k3f9a2") { line in
                    lines.all.withLock { $0.append(line) }
                }
            }
            logger.warning(message)
            return lines.all.withLock { $0.joined() }
        }
        #expect(log(.bare, "one") == "one\n")
        #expect(log(.nsLog, "one\ntwo").hasSuffix("] [k3f9a2] one\n\ttwo\n"))
        #expect(log(.journal, "one\ntwo") == "<4>[k3f9a2] one\n<4>[k3f9a2] \ttwo\n")
        #expect(log(.json, "one").contains(",\"run\":\"k3f9a2\",\"message\":\"one\"}"))
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

    @Test("a message of megabytes is cut, and says by how much", arguments: ["x", "\n", "\0a", "\u{301}"])
    func cut(text: String) throws {
        for form in [StandardErrorLogHandler.Form.bare, .json] {
            let lines = Lines()
            let count = 5_000_000 / text.utf8.count
            logger(lines, form).info("\(String(repeating: text, count: count))", metadata: ["short": "field"])
            let line = try #require(lines.all.withLock { $0.first })
            #expect(line.utf8.count < 12 << 20)
            let left = try #require(line.utf8.suffix(200).split(separator: UInt8(ascii: "(")).last)
            #expect(String(decoding: left, as: UTF8.self).contains("more bytes)"))
            #expect(line.utf8.suffix(100).contains(UInt8(ascii: "f")), "the field is there")
        }
    }
}
