import Application
import Cubby
import Files
import Glibc
import Lua
import Scripting

/// What is the same for all tests of a run.
struct TestRunOptions: Sendable {
    var readable: [String] = []
    var writable: [String] = []
    var allowsRunning = false
    /// The time of one test, in seconds.
    var timeLimit = 10.0
    /// The memory of a host's scripts, in bytes; nil for no limit.
    var memoryLimit = MachineMemory.find()?.limitOfScripts
    /// Only tests whose names contain it.
    var filter: String?
    /// Orders the tests at random; nil for the order of their declaration.
    var seed: UInt64?
    var recordsCoverage = false
}

/// Runs the tests of a file, each in a host and a container of its own.
struct TestFileRun {
    private let file: TestFile
    private let options: TestRunOptions

    init(_ file: TestFile, _ options: TestRunOptions) { (self.file, self.options) = (file, options) }

    func run() -> TestFileReport {
        var report = TestFileReport(file: file)
        let start = MonotonicTime.now()
        do {
            let source =
                try StandardDescriptor.descriptor(of: file.path).map {
                    try PosixFileLayer().contents(of: OpenFile(descriptor: $0, path: file.path), limit: 64 << 20)
                } ?? PosixFileLayer().contents(of: file.path, limit: 64 << 20)
            let memory = try MemoryContainer()
            defer { memory.remove() }
            try run(source, in: memory.container.path, &report)
        } catch {
            report.outcomes.append(failure("\(error)"))
        }
        report.seconds = MonotonicTime.now().seconds(since: start)
        return report
    }

    /// What stands for all tests of a file that cannot be loaded.
    private func failure(_ message: String) -> TestOutcome {
        TestOutcome(path: ["the file is loaded"], line: 0, result: .failed(message))
    }

    private func run(_ source: [UInt8], in area: String, _ report: inout TestFileReport) throws {
        let found: [(path: [String], line: Int)]
        do {
            let stage = try TestStage(file, source, options, in: area)
            defer { report.coverage.add(stage.end()) }
            if let message = stage.load() {
                var outcome = failure(message)
                (outcome.output, outcome.log) = (stage.scene.transcript.output, stage.scene.transcript.log)
                report.outcomes.append(outcome)
                return
            }
            found = stage.scene.suite.tests.map { ($0.path, $0.line) }
        }
        var order = Array(found.indices)
        if let seed = options.seed {
            // Each file has an order of its own, whichever others run.
            var generator = SeededGenerator(seed ^ Checksum.hash(Array(file.shown.utf8)))
            order.shuffle(using: &generator)
        }
        for index in order {
            let test = found[index]
            var outcome = TestOutcome(path: test.path, line: test.line, result: .passed)
            if let filter = options.filter, !outcome.name.contains(filter) { continue }
            Self.empty(area)
            let start = MonotonicTime.now()
            do {
                outcome.result = try run(index, test.path, source, in: area, &outcome, &report.coverage)
            } catch {
                outcome.result = .failed("\(error)")
            }
            outcome.seconds = MonotonicTime.now().seconds(since: start)
            report.outcomes.append(outcome)
        }
    }

    /// Removes what the test before has left.
    private static func empty(_ area: String) {
        let layer = PosixFileLayer()
        for name in (try? layer.list(area)) ?? [] { FolderRemover.remove(PathText.join(area, name), using: layer) }
    }

    /// Runs the functions of a test, each in a launch of its container.
    private func run(
        _ index: Int, _ path: [String], _ source: [UInt8], in area: String, _ outcome: inout TestOutcome,
        _ coverage: inout LineCoverage
    ) throws -> TestOutcome.Result {
        var last: TestLaunchEnd?
        var number = 0
        while true {
            if last?.wasKilled == true { try KilledContainer.restore(in: area) }
            let stage = try TestStage(file, source, options, in: area, wall: last?.wall)
            defer { coverage.add(stage.end()) }
            if let message = stage.load() { return .failed(message) }
            let suite = stage.scene.suite
            guard suite.tests.indices.contains(index), suite.tests[index].path == path else {
                return .failed("the file declares other tests when it is loaded again")
            }
            let test = suite.tests[index]
            if let reason = test.skipReason { return .skipped(reason) }
            let isLast = number == test.functions.count - 1
            let result = stage.run(test, number, after: last)
            outcome.output += stage.scene.transcript.output
            outcome.log += stage.scene.transcript.log
            guard case .passed = result, !isLast else { return result }
            last = stage.leave()
            if let fault = stage.scene.faults.pending { return .failed(TestStage.text(ofUnmet: fault)) }
            number += 1
        }
    }
}

/// A sequence of numbers from a seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// A file with tests.
struct TestFile: Sendable {
    /// Its absolute path.
    let path: String
    /// Its path as the user has given it, or beneath such a folder.
    let shown: String

    var folder: String { PathText.parent(of: path) }

    /// The folders of its modules: its own, and that of the scripts which it is beside.
    var moduleFolders: [String] {
        PathText.name(of: folder) == "tests" ? [folder, PathText.parent(of: folder)] : [folder]
    }

    /// The folder of the scripts that it tests.
    var scripts: String { moduleFolders.last ?? folder }
}

/// The files with tests among some paths: `*_test.lua`, and `*.lua` in folders named `tests`.
enum TestFiles {
    /// - Parameter paths: files, and folders that are searched with all beneath them.
    /// - Returns: the files, in the order of the paths, those of a folder by name.
    /// - Throws: `FileError` when a path cannot be examined, or is not there.
    static func find(_ paths: [String]) throws(FileError) -> [TestFile] {
        let layer = PosixFileLayer()
        var files: [TestFile] = []
        var known: NameSet = []
        func add(_ path: String, _ shown: String) {
            if known.insert(path).inserted { files.append(TestFile(path: path, shown: shown)) }
        }
        func search(_ folder: String, _ shown: String, depth: Int) throws(FileError) {
            // Deeper folders are those of links or of a mistake.
            guard depth < 64 else { return }
            let isOfTests = PathText.name(of: folder) == "tests"
            for name in try layer.list(folder) where !name.hasPrefix(".") {
                let (path, label) = (PathText.join(folder, name), shown == "." ? name : PathText.join(shown, name))
                switch try layer.status(path)?.kind {
                case .directory?: try search(path, label, depth: depth + 1)
                case .regular? where name.hasSuffix("_test.lua") || (isOfTests && name.hasSuffix(".lua")):
                    add(path, label)
                default: break
                }
            }
        }
        for shown in paths {
            let path = PathText.absolute(shown, from: WorkingDirectory.path ?? "/")
            // The status of what a link leads to.
            if layer.exists(path + "/.") {
                try search(path, shown.count > 1 && shown.hasSuffix("/") ? String(shown.dropLast()) : shown, depth: 0)
            } else if layer.exists(path) {
                add(path, shown)
            } else {
                throw FileError(.open, path, code: FileLayerCode.absent)
            }
        }
        return files
    }

    /// The times of last change of all scripts beside tests, by path.
    static func changes(beside files: [TestFile], _ paths: [String]) -> NameTable<Int64> {
        let layer = PosixFileLayer()
        var changes: NameTable<Int64> = [:]
        func look(_ folder: String, depth: Int) {
            guard depth < 64 else { return }
            for name in (try? layer.list(folder)) ?? [] where !name.hasPrefix(".") {
                let path = PathText.join(folder, name)
                guard let status = (try? layer.status(path)) ?? nil else { continue }
                if status.kind == .directory { look(path, depth: depth + 1) }
                if status.kind == .regular, name.hasSuffix(".lua") { changes[path] = status.modified }
            }
        }
        let folders = paths.map { PathText.absolute($0, from: WorkingDirectory.path ?? "/") }
        for folder in NameSet(folders + files.flatMap(\.moduleFolders)) { look(folder, depth: 0) }
        return changes
    }
}
