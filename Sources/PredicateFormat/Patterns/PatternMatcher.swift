/// Matches texts with a compiled regular expression, and caches the states of its automata.
///
/// A matcher belongs to one thread at a time. The programs are shared; each thread of a scan makes a matcher of its
/// own.
final class PatternMatcher {
    private let runs: [PatternRun]

    /// `memory` is the approximate limit of each program's states, in bytes.
    init(_ programs: [PatternProgram], memory: Int = 1 << 20) {
        runs = programs.map { PatternRun($0, memory: memory) }
    }

    /// The number of steps followed, which tests compare with a bound.
    var followed: Int { runs.reduce(0) { $0 + $1.followed } }

    /// The number of cache clearings, for tests.
    var clearings: Int { runs.reduce(0) { $0 + $1.clearings } }

    /// Whether the whole text matches.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for run in runs where !run.accepts(text) { return false }
        return true
    }
}
