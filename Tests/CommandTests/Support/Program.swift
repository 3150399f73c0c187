import Foundation
import TestSupport

/// The built program in a container and a home of its own, which go when this goes.
final class Program: Sendable {
    let scratch: TemporaryDirectory
    let path: String

    static var isBuilt: Bool { Project.cubby != nil }

    init() throws {
        guard let path = Project.cubby else { throw TestFailure(Project.cubbyIsAbsent) }
        self.path = path
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("home"), withIntermediateDirectories: true)
    }

    var container: String { scratch.file("container") }
    var archive: String { "\(container)/Documents/items.archive" }

    var environment: [String: String] {
        var environment = [
            "HOME": scratch.file("home"), "MEMORY_PRESSURE_WATCH": "/dev/null", "CUBBY_CONTAINER": container,
            "CUBBY": path, "LANG": "C.UTF-8",
            "PATH": Project.environment("PATH") ?? "/usr/bin:/bin",
        ]
        // How a program that was built with a sanitizer reports. What it holds when it exits is no leak.
        environment["TSAN_OPTIONS"] = Project.environment("TSAN_OPTIONS")
        environment["ASAN_OPTIONS"] = Project.environment("ASAN_OPTIONS").map { $0 + ":detect_leaks=0" }
        return environment
    }

    /// Runs the program to its end, with nothing or a text on standard input.
    func callAsFunction(_ arguments: String..., input: String = "", directory: String? = nil) throws -> ProcessOutput {
        try self(arguments, input: input, directory: directory)
    }

    func callAsFunction(
        _ arguments: [String], input: String = "", directory: String? = nil
    ) throws -> ProcessOutput {
        try run(path, arguments, input: input, environment: environment, directory: directory)
    }

    /// A shell with job control in a terminal, where `$CUBBY` is the program.
    func shell() throws -> PseudoTerminal {
        try PseudoTerminal.shell(environment: environment, directory: scratch.path, columns: 200, rows: 50)
    }

    /// The program itself as the leader of a terminal's session: there is no shell to stop it for.
    func terminal(_ arguments: String..., columns: UInt16 = 200) throws -> PseudoTerminal {
        try PseudoTerminal(
            path, arguments, environment: environment, directory: scratch.path, columns: columns, rows: 50)
    }

    /// How many items the container holds, asked by another process that changes nothing.
    func itemCount() throws -> String {
        try self("--read-only", "--no-init", "-e", "io.write(#items)").stdout
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

    /// Whether the archive was written, not only the journal.
    var isSaved: Bool { FileManager.default.fileExists(atPath: archive) }
}

extension PseudoTerminal {
    /// Starts the prompt from a shell, and waits until it is ready.
    func startPrompt(_ arguments: String = "") throws {
        try sendLine("\"$CUBBY\" \(arguments)")
        try waitForPrompt()
    }

    func waitForPrompt() throws {
        try expect("Ctrl-D to leave.")
        try expect("> ")
    }

    /// Types an entry at the prompt and waits until its text has been printed, and the prompt is there again.
    ///
    /// Keys that are typed before the prompt mean what they mean to the kernel: Ctrl-D would be lost, as in any shell.
    ///
    /// - Parameters:
    ///   - entry: Lua text of one line.
    ///   - text: must not occur in the entry, which the terminal shows as well.
    /// - Throws: `TestFailure` when the text does not come.
    func enter(_ entry: String, andExpect text: String) throws {
        try begin(entry, andExpect: text)
        try expect("> ")
    }

    /// The same for an entry that goes on after its text.
    func begin(_ entry: String, andExpect text: String) throws {
        precondition(!entry.contains(text), "the echo of the entry would be taken for its outcome")
        try sendLine(entry)
        try expect(text)
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
