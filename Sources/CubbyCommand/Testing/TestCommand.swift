import Application
import ArgumentParser
import Files
import Glibc
import Scripting

/// `cubby test PATH…`: the tests of scripts.
struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the tests of scripts: *_test.lua, and *.lua in folders named tests.",
        discussion: """
            Each test runs in a new host, with a container of its own in memory and a clock that never waits; the file is \
            loaded anew for it. The status is 0 when all have passed, 1 when one has failed, 64 when there is none.
            """)

    @Option(
        help: ArgumentHelp(
            "\(TestReportFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "format"), completion: .list(TestReportFormat.allCases.map(\.rawValue)))
    var format = TestReportFormat.text.rawValue

    @Option(help: ArgumentHelp("Run only tests with a text in their name, groups included.", valueName: "text"))
    var filter: String?

    @Flag(help: "Run again whenever a script changes, until Ctrl-C.")
    var watch = false

    @Option(help: ArgumentHelp("Run in a random order, the same for the same number.", valueName: "n"))
    var seed: UInt64?

    @Flag(help: "Show how many lines of the scripts were run, and write \(CoverageReport.fileName) for lcov.")
    var coverage = false

    @Option(name: .customLong("time-limit"), help: ArgumentHelp("The real time of a test, in seconds.", valueName: "s"))
    var timeLimit = 10.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The memory limit of a host's scripts, in megabytes; 0 for none (default: that of other commands).",
            valueName: "mb"))
    var memoryLimit: Int?

    @Option(name: .customLong("allow-read"), help: ArgumentHelp("Let scripts read a path.", valueName: "path"))
    var allowRead: [String] = []

    @Option(name: .customLong("allow-write"), help: ArgumentHelp("Let scripts write to a folder.", valueName: "path"))
    var allowWrite: [String] = []

    @Flag(name: .customLong("allow-run"), help: "Let scripts start programs that the test does not replace.")
    var allowRun = false

    @Argument(help: "Files, and folders that are searched (default: the working folder).", completion: .file())
    var paths: [String] = []

    func validate() throws {
        guard TestReportFormat(rawValue: format) != nil else {
            let names = TestReportFormat.allCases.map(\.rawValue)
            let hint = NearestNames.hint(for: format, among: names)
            throw ValidationError("--format takes one of \(names.joined(separator: ", "))\(hint).")
        }
        if !(timeLimit > 0 && timeLimit <= 86_400) { throw ValidationError("--time-limit takes seconds above 0.") }
        if let memoryLimit, !Setting.memoryLimit.accepts("\(memoryLimit)") {
            throw ValidationError("--memory-limit takes \(Setting.memoryLimit.range).")
        }
        if paths.contains("") { throw ValidationError("A path of tests is empty; . is the working folder.") }
    }

    func run() throws {
        // Nothing has to be saved: signals end and stop the process as any other.
        SignalMask.restore()
        var status = try runOnce()
        while watch {
            try waitForChange()
            StandardStream.output.put("\n")
            status = try runOnce()
        }
        throw ExitCode(status.rawValue)
    }

    private var searched: [String] { paths.isEmpty ? ["."] : paths }

    private func findFiles() throws -> [TestFile] {
        do throws(FileError) { return try TestFiles.find(searched) } catch {
            throw CommandFailure.exit(.usage, error.message)
        }
    }

    private func runOnce() throws -> ExitStatus {
        let files = try findFiles()
        guard !files.isEmpty else {
            let places = searched.joined(separator: ", ")
            throw CommandFailure.exit(
                .usage, "there are no tests in \(places): they are files *_test.lua, or *.lua in a folder tests")
        }
        var options = TestRunOptions()
        (options.readable, options.writable, options.allowsRunning) = (allowRead, allowWrite, allowRun)
        (options.timeLimit, options.filter, options.seed) = (timeLimit, filter, seed)
        options.recordsCoverage = coverage
        if let memoryLimit { options.memoryLimit = memoryLimit == 0 ? nil : memoryLimit << 20 }
        var lines = LineCoverage()
        var writer = TestReportWriter(TestReportFormat(rawValue: format) ?? .text, seed: seed)
        let start = MonotonicTime.now()
        var count = 0
        writer.begin()
        let surroundings = ProcessSurroundings.current
        try ParallelWork.forEach(files.count) { [options] number in
            ProcessSurroundings.$current.withValue(surroundings) { TestFileRun(files[number], options).run() }
        } consume: { _, report in
            count += report.outcomes.count
            lines.add(report.coverage)
            // A file without a test that the filter lets through is not mentioned.
            if !report.outcomes.isEmpty || options.filter == nil { writer.add(report) }
            try flush()
        }
        writer.end(seconds: MonotonicTime.now().seconds(since: start))
        if coverage { try write(CoverageReport(lines)) }
        if count == 0, !watch {
            throw CommandFailure.exit(
                .usage,
                filter.map { "no test has '\($0)' in its name" } ?? "the files declare no tests: test(name, function)")
        }
        return writer.hasFailures ? .scriptError : .done
    }

    private func flush() throws {
        do throws(FileError) { try StandardStream.output.flush() } catch { throw CommandFailure.exit(error) }
    }

    private func write(_ report: CoverageReport) throws {
        do throws(FileError) { try report.write() } catch { throw CommandFailure.exit(error) }
        guard format == TestReportFormat.text.rawValue else { return }
        for line in report.table { StandardStream.output.put(line + "\n") }
    }

    /// Waits until a script beside the tests is another than now.
    private func waitForChange() throws {
        try flush()
        let before = TestFiles.changes(beside: (try? TestFiles.find(searched)) ?? [], searched)
        repeat {
            usleep(300_000)
        } while TestFiles.changes(beside: (try? TestFiles.find(searched)) ?? [], searched) == before
    }
}
