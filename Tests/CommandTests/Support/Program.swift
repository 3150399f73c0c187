import Foundation
import TestSupport

/// The built program.
final class Program: TestProgram {
    let scratch: TemporaryDirectory
    let path: String

    static var isBuilt: Bool { Project.cubby != nil }

    init() throws {
        guard let path = Project.cubby else { throw TestFailure(Project.cubbyIsAbsent) }
        self.path = path
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("home"), withIntermediateDirectories: true)
    }

    /// The program for a shell; and how one that was built with a sanitizer reports. What it holds when it exits is no
    /// leak.
    var processEnvironment: [String: String] {
        var environment = ["CUBBY": path]
        environment["TSAN_OPTIONS"] = Project.environment("TSAN_OPTIONS")
        environment["ASAN_OPTIONS"] = Project.environment("ASAN_OPTIONS").map { $0 + ":detect_leaks=0" }
        return environment
    }

    func perform(
        _ arguments: [String], input: String, environment: [String: String?], directory: String?
    ) throws -> ProcessOutput {
        try run(path, arguments, input: input, environment: self.environment(environment), directory: directory)
    }

    func terminal(
        _ arguments: [String], columns: UInt16, rows: UInt16, environment: [String: String?]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            path, arguments, environment: self.environment(environment), directory: scratch.path, columns: columns,
            rows: rows)
    }

    /// A shell with job control in a terminal, where `$CUBBY` is the program.
    func shell() throws -> PseudoTerminal {
        try PseudoTerminal.shell(environment: environment, directory: scratch.path, columns: 200, rows: 50)
    }

    /// Waits until a file of the scratch folder holds a line that begins with a text.
    func waitForLine(_ text: String, in file: String) throws {
        let deadline = Date(timeIntervalSinceNow: 30 * Project.patience)
        while try !String(decoding: scratch.read(file), as: UTF8.self).contains("\n\(text)") {
            if deadline.timeIntervalSinceNow < 0 { throw TestFailure("no line \(text) in \(file)") }
            usleep(5000)
        }
    }

    /// Whether something was committed.
    var isCommitted: Bool {
        let journal = "\(container)/Documents/items.journal"
        return ((try? FileManager.default.attributesOfItem(atPath: journal)[.size]) as? Int ?? 0) > 64 || isSaved
    }
}

extension PseudoTerminal {
    /// Starts the prompt from a shell, and waits until it is ready.
    func startPrompt(_ arguments: String = "") throws {
        try sendLine("\"$CUBBY\" \(arguments)")
        try waitForPrompt()
    }

    /// Waits until the shell says that the job has stopped, and prompts.
    func waitForStop() throws {
        try expect("Stopped")
        try expect("$ ")
    }

    /// Ctrl-Z, and the job has stopped.
    func pressHome() throws {
        try send(control: "z")
        try waitForStop()
    }

    /// Waits until a process is no more; one that nobody waited for counts as gone.
    func waitForEnd(of process: pid_t) throws {
        let deadline = Date(timeIntervalSinceNow: timeout * Project.patience)
        while let found = SystemProcess(pid: process), found.state != "Z" {
            if deadline.timeIntervalSinceNow < 0 { throw TestFailure("process \(process) did not end:\n\(transcript)") }
            usleep(5000)
        }
    }
}
