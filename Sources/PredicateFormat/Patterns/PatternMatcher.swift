/// Matches texts with a regular expression, and remembers the states that they need.
///
/// A matcher belongs to one thread at a time. Threads that scan together make one each of the programs that they share.
final class PatternMatcher {
    private let runs: [PatternRun]

    /// `memory` is about how many bytes the states of each program may take.
    init(_ programs: [PatternProgram], memory: Int = 1 << 20) {
        runs = programs.map { PatternRun($0, memory: memory) }
    }

    /// Steps of the programs followed so far: a measure of the work.
    var followed: Int { runs.reduce(0) { $0 + $1.followed } }

    /// How often full memory was cleared.
    var clearings: Int { runs.reduce(0) { $0 + $1.clearings } }

    /// Whether the whole text matches.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for run in runs where !run.accepts(text) { return false }
        return true
    }
}
