import Foundation

/// The same work by psycopg, in a Python process that does a round when it is told to.
final class PsycopgPeer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    /// - Parameters:
    ///   - command: the interpreter and its script.
    ///   - server: the address of the database.
    /// - Throws: when it cannot be started.
    init(_ command: [String], server: String) throws {
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst()) + [server]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Has it do something.
    ///
    /// - Returns: the seconds that it took.
    /// - Throws: ``SharedBenchmark/Failure`` when it ended.
    func run(_ work: String, _ number: Int) throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\(work) \(number)\n".utf8))
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                guard let seconds = Double(String(decoding: rest[..<end], as: UTF8.self)) else {
                    throw SharedBenchmark.Failure()
                }
                return seconds
            }
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { throw SharedBenchmark.Failure() }
            rest += piece
        }
    }
}
