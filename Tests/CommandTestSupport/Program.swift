import CubbyCommand
import Foundation
public import TestSupport

/// The program as a part of this process: what the executable does, word for word, but for what a process alone has: job
/// control, signals that end it, limits of its memory.
public final class Program: TestProgram {
    public let scratch: TemporaryDirectory

    public init() throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("home"), withIntermediateDirectories: true)
    }

    public func perform(
        _ arguments: [String], input: String, environment: [String: String?], directory: String?
    ) throws -> ProcessOutput {
        try TestProcess.run(input: input, environment: self.environment(environment), directory: directory) {
            CommandProgram.run(arguments)
        }
    }

    public func terminal(
        _ arguments: [String], columns: UInt16, rows: UInt16, environment: [String: String?]
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            environment: self.environment(environment), directory: scratch.path, columns: columns, rows: rows
        ) { CommandProgram.run(arguments) }
    }

    /// A client that has started a debug adapter, as an editor does it.
    public func debugClient(_ arguments: [String]) throws -> DebugClient {
        try DebugClient(environment: environment, directory: scratch.path) {
            CommandProgram.run(["debug"] + arguments + ["--dap"])
        }
    }
}
