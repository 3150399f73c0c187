import Files
import Lua
import Scripting

/// What became of a test.
struct TestOutcome: Sendable {
    enum Result: Sendable {
        case passed
        case failed(String)
        case skipped(String)
    }

    /// The names of its groups and its own.
    let path: [String]
    /// The line of its function; 0 if it has none.
    let line: Int
    var result: Result
    var seconds = 0.0
    /// What it printed, and logged, shown when it fails.
    var output: [UInt8] = []
    var log: [UInt8] = []

    var name: String { path.joined(separator: " › ") }
}

/// What became of the tests of a file.
struct TestFileReport: Sendable {
    let file: TestFile
    var outcomes: [TestOutcome] = []
    var seconds = 0.0
    var coverage = LineCoverage()
}

/// How the outcomes are written.
enum TestReportFormat: String, CaseIterable {
    case text, tap, junit
}

/// Writes the outcomes of tests, file by file.
struct TestReportWriter {
    private let format: TestReportFormat
    private let seed: UInt64?
    private var reports: [TestFileReport] = []
    private var number = 0
    private var counts = (passed: 0, failed: 0, skipped: 0)

    init(_ format: TestReportFormat, seed: UInt64?) { (self.format, self.seed) = (format, seed) }

    /// Whether a test has failed.
    var hasFailures: Bool { counts.failed > 0 }

    mutating func begin() {
        guard format == .tap else { return }
        put("TAP version 14")
        if let seed { put("# seed \(seed)") }
    }

    mutating func add(_ report: TestFileReport) {
        for outcome in report.outcomes {
            switch outcome.result {
            case .passed: counts.passed += 1
            case .failed: counts.failed += 1
            case .skipped: counts.skipped += 1
            }
        }
        switch format {
        case .text: writeText(report)
        case .tap: writeTAP(report)
        case .junit: reports.append(report)
        }
    }

    mutating func end(seconds: Double) {
        switch format {
        case .text:
            var parts = ["\(counts.passed) passed"]
            if counts.failed > 0 { parts.append("\(counts.failed) failed") }
            if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
            let seedText = seed.map { ", seed \($0)" } ?? ""
            put("\(parts.joined(separator: ", ")) in \(Self.text(of: seconds))\(seedText)")
        case .tap: put("1..\(number)")
        case .junit: writeJUnit(seconds)
        }
    }

    private func put(_ line: String) { StandardStream.output.put(line + "\n") }

    private static func text(of seconds: Double) -> String {
        seconds < 1 ? "\(Int((seconds * 1000).rounded())) ms" : "\((seconds * 100).rounded() / 100) s"
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// What a failed test has written, with headings.
    private static func writings(_ outcome: TestOutcome) -> [String] {
        [("printed", outcome.output), ("logged", outcome.log)].flatMap { title, bytes -> [String] in
            if bytes.isEmpty { return [] }
            let text = VisibleText.escaped(String(escaping: bytes))
            return ["\(title):"] + lines(text.hasSuffix("\n") ? String(text.dropLast()) : text).map { "  " + $0 }
        }
    }

    // MARK: Text

    private func writeText(_ report: TestFileReport) {
        put(VisibleText.line(report.file.shown) + (report.outcomes.isEmpty ? ": no tests" : ""))
        for outcome in report.outcomes {
            let name = VisibleText.line(outcome.name)
            switch outcome.result {
            case .passed: put("  ok    \(name)")
            case .skipped(let reason): put("  skip  \(name): \(VisibleText.line(reason))")
            case .failed(let message):
                put("  FAIL  \(name)")
                for line in Self.lines(message) + Self.writings(outcome).map({ $0[...] }) { put("        \(line)") }
            }
        }
    }

    // MARK: TAP

    private mutating func writeTAP(_ report: TestFileReport) {
        for outcome in report.outcomes {
            number += 1
            // A number sign would begin a directive.
            let name = VisibleText.line("\(report.file.shown): \(outcome.name)").replacing("#", with: "\\#")
            switch outcome.result {
            case .passed: put("ok \(number) - \(name)")
            case .skipped(let reason): put("ok \(number) - \(name) # SKIP \(VisibleText.line(reason))")
            case .failed(let message):
                put("not ok \(number) - \(name)")
                // The indentation is given: the first line may have one of its own.
                put("  ---\n  file: \(Self.quoted(report.file.shown))\n  line: \(outcome.line)\n  message: |2-")
                for line in Self.lines(message) + Self.writings(outcome).map({ $0[...] }) { put("    \(line)") }
                put("  ...")
            }
        }
    }

    private static func quoted(_ text: String) -> String { "'\(VisibleText.line(text).replacing("'", with: "''"))'" }

    // MARK: JUnit

    private func writeJUnit(_ seconds: Double) {
        let total = counts.passed + counts.failed + counts.skipped
        put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        put(
            "<testsuites tests=\"\(total)\" failures=\"\(counts.failed)\" skipped=\"\(counts.skipped)\" time=\"\(Self.decimal(seconds))\">"
        )
        for report in reports {
            let failed = report.outcomes.count { if case .failed = $0.result { true } else { false } }
            let skipped = report.outcomes.count { if case .skipped = $0.result { true } else { false } }
            let file = Self.escaped(report.file.shown)
            put(
                "  <testsuite name=\"\(file)\" tests=\"\(report.outcomes.count)\" failures=\"\(failed)\" errors=\"0\" skipped=\"\(skipped)\" time=\"\(Self.decimal(report.seconds))\">"
            )
            for outcome in report.outcomes { writeJUnit(outcome, file) }
            put("  </testsuite>")
        }
        put("</testsuites>")
    }

    private func writeJUnit(_ outcome: TestOutcome, _ file: String) {
        let head =
            "    <testcase classname=\"\(file)\" name=\"\(Self.escaped(outcome.name))\" file=\"\(file)\" line=\"\(outcome.line)\" time=\"\(Self.decimal(outcome.seconds))\""
        switch outcome.result {
        case .passed: put(head + "/>")
        case .skipped(let reason):
            put("\(head)>\n      <skipped message=\"\(Self.escaped(reason))\"/>\n    </testcase>")
        case .failed(let message):
            let first = Self.lines(message).first.map(String.init) ?? ""
            put("\(head)>\n      <failure message=\"\(Self.escaped(first))\">\(Self.escaped(message))</failure>")
            for (element, bytes) in [("system-out", outcome.output), ("system-err", outcome.log)] where !bytes.isEmpty {
                put("      <\(element)>\(Self.escaped(String(escaping: bytes)))</\(element)>")
            }
            put("    </testcase>")
        }
    }

    /// Seconds as XML writes a decimal.
    private static func decimal(_ seconds: Double) -> String {
        let milliseconds = Int((max(0, seconds) * 1000).rounded())
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    /// Text for XML, which has no control characters but tabs and line ends.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\t": result += "&#\(scalar.value);"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result += "\\x" + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// How often each line of scripts was run.
struct LineCoverage: Sendable {
    /// By the scripts' absolute paths, the number of runs of each line.
    private(set) var counts: NameTable<[Int: Int]> = [:]

    mutating func add(_ other: LineCoverage) {
        for (path, lines) in other.counts { counts[path, default: [:]].merge(lines, uniquingKeysWith: +) }
    }

    mutating func add(_ path: String, _ line: Int) { counts[path, default: [:]][line, default: 0] += 1 }
}

/// Records the lines that a state runs, until its end.
final class CoverageObserver {
    private(set) var coverage = LineCoverage()
    /// The paths of chunks by their names; nil for a chunk that is no script.
    private var paths: NameTable<String?> = [:]
    private let file: TestFile

    /// - Parameters:
    ///   - state: the state.
    ///   - file: the file with the tests, which is not counted.
    init(_ state: LuaState, _ file: TestFile) {
        self.file = file
        state.debugger.onLine = { [weak self] name, line in self?.record(name, line) }
    }

    private func record(_ name: String, _ line: Int) {
        let path: String?
        if let known = paths[name] {
            path = known
        } else {
            path = self.path(of: name)
            paths[name] = .some(path)
        }
        if let path { coverage.add(path, line) }
    }

    private func path(of name: String) -> String? {
        guard name.hasPrefix("@") else { return nil }
        var path = String(name.dropFirst())
        if path.hasPrefix("~/"), let home = HomeFolder.path { path = PathText.join(home, String(path.dropFirst(2))) }
        path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        return path == file.path ? nil : path
    }
}

/// The coverage of all scripts: as a table, and in the format of lcov.
struct CoverageReport {
    private struct Script {
        let path: String
        /// The lines with code, and how often each was run.
        let lines: [(number: Int, count: Int)]
        var covered: Int { lines.count { $0.count > 0 } }
    }

    /// The file that is written in the working folder.
    static let fileName = "lcov.info"

    private let scripts: [Script]

    /// Reads the scripts again, to know which of their lines have code.
    init(_ coverage: LineCoverage) {
        scripts = coverage.counts.sorted { $0.key < $1.key }.map { path, counts in
            let lines = Self.codeLines(of: path) ?? counts.keys.sorted()
            return Script(path: path, lines: lines.map { ($0, counts[$0] ?? 0) })
        }
    }

    private static func codeLines(of path: String) -> [Int]? {
        guard let bytes = try? PosixFileLayer().contents(of: path, limit: 64 << 20), let state = try? LuaState(),
            let function = try? state.load(ScriptHost.withoutShebang(bytes), name: "@" + path)
        else { return nil }
        defer { state.close() }
        return function.codeLines
    }

    /// A row for each script, and their sum.
    var table: [String] {
        if scripts.isEmpty { return ["no script was run beside the tests"] }
        let folder = (WorkingDirectory.path ?? "/") + "/"
        var rows = scripts.map { script in
            let name = script.path.hasPrefix(folder) ? String(script.path.dropFirst(folder.count)) : script.path
            return Self.row(script.covered, script.lines.count, VisibleText.line(name))
        }
        if scripts.count > 1 {
            rows.append(
                Self.row(scripts.reduce(0) { $0 + $1.covered }, scripts.reduce(0) { $0 + $1.lines.count }, "all"))
        }
        return rows
    }

    /// Per cent are rounded down, so that 100 means all.
    private static func row(_ covered: Int, _ count: Int, _ name: String) -> String {
        let share = "\(count == 0 ? 100 : covered * 100 / count) %"
        let lines = "\(covered)/\(count)"
        return "\(share.padded(to: 7, isRight: true))\(lines.padded(to: 12, isRight: true))  \(name)"
    }

    /// The text for lcov.
    private var lcov: String {
        scripts.map { script in
            "TN:\nSF:\(script.path)\n" + script.lines.map { "DA:\($0.number),\($0.count)\n" }.joined()
                + "LF:\(script.lines.count)\nLH:\(script.covered)\nend_of_record\n"
        }.joined()
    }

    /// Writes the file.
    ///
    /// - Throws: `FileError`.
    func write() throws(FileError) {
        let path = PathText.absolute(Self.fileName, from: WorkingDirectory.path ?? "/")
        try AtomicFile.write(Array(lcov.utf8), to: path, using: PosixFileLayer())
    }
}
