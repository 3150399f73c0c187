import CubbyCommand
import Foundation
package import TestSupport

/// The program as a part of this process: what the executable does, word for word, but for what a process alone has: job
/// control, signals that end it, limits of its memory.
package final class Program: TestProgram {
    package let scratch: TemporaryDirectory

    package init() throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("home"), withIntermediateDirectories: true)
    }

    package func perform(
        _ arguments: [String], input: String, environment: [String: String?], directory: String?
    ) throws -> ProcessOutput {
        try TestProcess.run(input: input, environment: self.environment(environment), directory: directory) {
            CommandProgram.run(arguments)
        }
    }

    package func terminal(
        _ arguments: [String], columns: UInt16, rows: UInt16, environment: [String: String?]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            environment: self.environment(environment), directory: scratch.path, columns: columns, rows: rows
        ) { CommandProgram.run(arguments) }
    }

    /// A client that has started a debug adapter, as an editor does it.
    package func debugClient(_ arguments: [String]) throws -> DebugClient {
        try DebugClient(environment: environment, directory: scratch.path) {
            CommandProgram.run(["debug"] + arguments + ["--dap"])
        }
    }
}
