import Foundation

/// The program in a container and a home of its own, which go when it goes: as a process, or as a part of this one.
package protocol TestProgram: AnyObject, Sendable {
    var scratch: TemporaryDirectory { get }
    /// What a process needs of its environment beside what every program has.
    var processEnvironment: [String: String] { get }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: what it gets after its name.
    ///   - input: what standard input gives before its end.
    ///   - environment: what to add to ``environment``, or with nil to take from it.
    ///   - directory: where it runs; nil is where this process is.
    /// - Returns: its status and what it wrote.
    /// - Throws: `TestFailure` when it does not start or does not end in time.
    func perform(
        _ arguments: [String], input: String, environment: [String: String?], directory: String?
    ) throws -> ProcessOutput

    /// Starts the program on a terminal, in the scratch folder.
    func terminal(
        _ arguments: [String], columns: UInt16, rows: UInt16, environment: [String: String?]
    ) throws -> PseudoTerminal
}

extension TestProgram {
    package var processEnvironment: [String: String] { [:] }
    package var container: String { scratch.file("container") }
    package var archive: String { "\(container)/Documents/items.archive" }

    /// The variables that it has.
    package var environment: [String: String] {
        [
            "HOME": scratch.file("home"), "MEMORY_PRESSURE_WATCH": "/dev/null", "CUBBY_CONTAINER": container,
            "LANG": "C.UTF-8", "PATH": Project.environment("PATH") ?? "/usr/bin:/bin",
        ].merging(processEnvironment) { $1 }
    }

    /// The variables with some added and others, of the value nil, taken away.
    package func environment(_ changes: [String: String?]) -> [String: String] {
        var environment = environment
        for (name, value) in changes { environment[name] = value }
        return environment
    }

    package func callAsFunction(
        _ arguments: String..., input: String = "", environment: [String: String?] = [:], directory: String? = nil
    ) throws -> ProcessOutput {
        try perform(arguments, input: input, environment: environment, directory: directory)
    }

    package func callAsFunction(
        _ arguments: [String], input: String = "", environment: [String: String?] = [:], directory: String? = nil
    ) throws -> ProcessOutput {
        try perform(arguments, input: input, environment: environment, directory: directory)
    }

    package func terminal(
        _ arguments: String..., columns: UInt16 = 200, rows: UInt16 = 50, environment: [String: String?] = [:]
    ) throws -> PseudoTerminal {
        try terminal(arguments, columns: columns, rows: rows, environment: environment)
    }

    /// A host that runs an application until a signal ends it.
    package func host(_ code: String = "app:run()") throws -> PseudoTerminal {
        let host = try terminal("-e", "print('rea' .. 'dy') \(code)")
        try host.expect("ready")
        return host
    }

    /// How many items the container holds, asked by another host that changes nothing.
    package func itemCount() throws -> String {
        try self("--read-only", "--no-init", "-e", "io.write(#items)").stdout
    }

    /// Whether the archive was written, not only the journal.
    package var isSaved: Bool { FileManager.default.fileExists(atPath: archive) }
}

extension PseudoTerminal {
    package func waitForPrompt() throws {
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
    package func enter(_ entry: String, andExpect text: String) throws {
        try begin(entry, andExpect: text)
        try expect("> ")
    }

    /// The same for an entry that goes on after its text.
    package func begin(_ entry: String, andExpect text: String) throws {
        precondition(!entry.contains(text), "the echo of the entry would be taken for its outcome")
        try sendLine(entry)
        try expect(text)
    }
}
