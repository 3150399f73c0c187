import Application
import Cubby
import Files
import Glibc
import ItemArchive
import Lua
import Scripting

/// How a launch of a test has ended.
struct TestLaunchEnd {
    let status: Int32
    let wasKilled: Bool
    let output: [UInt8]
    let log: [UInt8]
    /// Where the wall clock stood.
    let wall: Int64
}

/// One launch of a test: a host in a container in memory, with the file loaded.
final class TestStage {
    let scene: TestScene
    private let host: ScriptHost
    private let clock: VirtualClock
    private let file: TestFile
    private let source: [UInt8]
    private let observer: CoverageObserver?

    /// Opens the host.
    ///
    /// - Parameters:
    ///   - file: the file with the tests.
    ///   - source: its bytes.
    ///   - options: the options of the run.
    ///   - area: a folder in memory; the container in it stays for the next launch.
    ///   - wall: where the wall clock stands; the current time if not given.
    /// - Throws: the errors of opening a host.
    init(
        _ file: TestFile, _ source: [UInt8], _ options: TestRunOptions, in area: String, wall: Int64? = nil
    ) throws {
        (self.file, self.source) = (file, source)
        let files = PathText.join(area, "files")
        try PosixFileLayer().makeDirectories(files, permissions: 0o700)
        let container = Self.container(in: area)
        let faults = SaveFaults()
        var host = ScriptHostOptions(container: container)
        host.persistence = { opened in
            let persistence = ArchivePersistence(
                folder: opened.container.documents, using: TestedFileLayer(opened.files, faults),
                indexFolder: opened.container.caches, removesLeftovers: false, opensCutArchive: false,
                lock: opened.lock)
            persistence.newEntries = opened.newEntries
            return persistence
        }
        host.handlesSignals = false
        host.runsInitScript = false
        host.logForm = .bare
        host.timeLimit = .seconds(options.timeLimit)
        host.memoryLimit = options.memoryLimit
        host.modulePaths = file.moduleFolders
        // A pipe that the command line names has been read, and is no file to grant.
        let isPipe = StandardDescriptor.descriptor(of: file.path) != nil
        host.readable = file.moduleFolders + (isPipe ? [] : [file.path]) + [files] + options.readable
        host.writable = [files] + options.writable
        host.allowsRunning = options.allowsRunning
        clock = VirtualClock(wall: wall)
        do {
            self.host = try ScriptHost(host, modules: ScriptHost.standardModules + ScriptHost.testModules)
        } catch {
            clock.end()
            throw error
        }
        scene = TestScene(self.host, clock: clock, faults: faults, folder: files, scripts: file.scripts)
        self.host.replacements.scene = scene
        observer = options.recordsCoverage ? CoverageObserver(self.host.state, file) : nil
    }

    /// The container of a test, in the folder in memory.
    static func container(in area: String) -> ApplicationContainer {
        ApplicationContainer(path: PathText.join(area, "container"), isTemporary: true)
    }

    /// Launches the application and loads the file.
    ///
    /// - Returns: the text of the error; nil on success.
    func load() -> String? {
        host.launch()
        host.sources.remember(String(decoding: source, as: UTF8.self), as: file.shown)
        defer { scene.suite.isOpen = false }
        let result = host.run(source, name: "@" + file.shown)
        if let code = host.exitCode { return "the application ended with the status \(code) while the file was loaded" }
        if case .failure(let error) = result { return describe(error) }
        return nil
    }

    /// Runs one function of a test: with what comes before it in the first launch, and after it in the last.
    func run(_ test: TestSuite.Test, _ number: Int, after last: TestLaunchEnd?) -> TestOutcome.Result {
        let isLast = number == test.functions.count - 1
        var result = TestOutcome.Result.passed
        if number == 0 {
            for function in test.group.path.flatMap(\.before) {
                result = call(function, [])
                guard case .passed = result, !hasEnded else { break }
            }
        }
        if case .passed = result, !hasEnded {
            result = call(test.functions[number], last.map { [table(of: $0)] } ?? [])
        }
        if isLast {
            for function in test.group.path.reversed().flatMap(\.after) where !hasEnded {
                let after = call(function, [])
                if case .passed = result { result = after }
            }
            if case .passed = result, hasEnded {
                result = .failed(
                    scene.faults.wasKilled
                        ? "the application was killed before the test was over: what its next launch finds is checked by another function, test(name, body, later)"
                        : "the application ended with the status \(host.exitCode ?? 0) before the test was over: what is to be checked then is another function, test(name, body, later)"
                )
            }
            if case .passed = result, let fault = scene.faults.pending { result = .failed(Self.text(ofUnmet: fault)) }
        }
        host.flushOutput()
        return result
    }

    static func text(ofUnmet fault: String) -> String { "\(fault) was set, and no save came that it could meet" }

    private var hasEnded: Bool { host.exitCode != nil || scene.faults.wasKilled }

    private func call(_ function: LuaFunction, _ arguments: [LuaValue]) -> TestOutcome.Result {
        let suite = scene.suite
        let result = host.run(function, arguments)
        if let reason = suite.skipReason { return .skipped(reason) }
        if case .failure(let error) = result, !(hasEnded && error.kind == .cancelled) {
            return .failed(describe(error))
        }
        // It was caught: by pcall, or as the error of a handler.
        guard let failure = suite.failures.first else { return .passed }
        return .failed("an expectation failed, and its error was caught:\n\(failure)")
    }

    private func describe(_ error: LuaError) -> String { ErrorText.describe(error, sources: host.sources) }

    private func table(of end: TestLaunchEnd) -> LuaValue {
        .table(
            host.state.makeTable([
                "status": Int64(end.status), "killed": end.wasKilled,
                "output": LuaString(end.output), "log": LuaString(end.log),
            ]))
    }

    /// Ends the application in order, unless it has ended or was killed.
    func leave() -> TestLaunchEnd {
        if !hasEnded { host.terminate(0, cause: .eof, explicitly: false) }
        return TestLaunchEnd(
            status: scene.faults.wasKilled ? 128 + SIGKILL : host.exitCode ?? 0, wasKilled: scene.faults.wasKilled,
            output: scene.transcript.output, log: scene.transcript.log, wall: clock.wall)
    }

    /// Returns the thread to the system's clock.
    ///
    /// - Returns: the lines that were run.
    func end() -> LineCoverage {
        clock.end()
        return observer?.coverage ?? LineCoverage()
    }
}

/// A container whose application was as if killed: the object in this process has released it in order since.
enum KilledContainer {
    /// Gives the container what a killed process leaves: its line in the lock's file, and temporary files of another
    /// process, which the next launch removes.
    ///
    /// - Throws: `FileError`.
    static func restore(in area: String) throws(FileError) {
        let (layer, container) = (PosixFileLayer(), TestStage.container(in: area))
        try AtomicFile.write(Array("0 cubby 0\n".utf8), to: PathText.join(container.path, ".lock"), using: layer)
        for folder in [container.documents, container.caches] {
            for name in try layer.list(folder) where TemporaryName.matches(name) {
                let other = name.replacing("\(getpid())-", with: "0-", maxReplacements: 1)
                try layer.rename(PathText.join(folder, name), to: PathText.join(folder, other))
            }
        }
    }
}
