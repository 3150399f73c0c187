import Application
import Lua
import Scripting
import Wording

/// How long an entry takes, by running it again and again.
struct Benchmark: Sendable {
    /// Seconds a run, of each round, in ascending order.
    let rounds: [Double]
    /// The runs of a round.
    let runs: Int

    /// The rounds that are measured.
    private static let count = 7
    /// Seconds that a round should take: long against the clock and an interruption by the system.
    private static let length = 0.15
    private static let mostRuns = 100_000_000

    /// Runs a function until the measurement is done.
    ///
    /// The loop is Lua's own, so that a call of the function is all that it adds; changes are committed after a round.
    ///
    /// - Parameters:
    ///   - function: the entry.
    ///   - host: its host.
    /// - Throws: the function's error, or that of an interrupt.
    init(_ function: LuaFunction, on host: ScriptHost) throws(LuaError) {
        let source = "local run, count = ... for _ = 1, count do run() end"
        let loop = try host.state.load(Array(source.utf8), name: "=bench")
        func seconds(of runs: Int) throws(LuaError) -> Double {
            let start = MonotonicTime.now()
            _ = try host.run(loop, [.function(function), .integer(Int64(runs))]).get()
            return MonotonicTime.now().seconds(since: start)
        }
        var runs = 1
        var once = try seconds(of: 1)
        // Rounds grow until they are long enough, which also warms up caches.
        while once < Self.length, runs < Self.mostRuns {
            let wanted = Double(runs) * Self.length / max(once, 1e-6)
            runs = min(max(Int(wanted), runs * 2), runs * 100, Self.mostRuns)
            once = try seconds(of: runs)
        }
        // A long entry is not run seven times.
        let count = once > 2 ? 1 : once > 0.5 ? 3 : Self.count
        var rounds = [once]
        while rounds.count < count { rounds.append(try seconds(of: runs)) }
        self.runs = runs
        self.rounds = rounds.map { $0 / Double(runs) }.sorted()
    }

    /// `1.26 µs a run (1.24 to 1.31 µs, 7 rounds of 119,047)`.
    var text: String {
        let median = rounds[rounds.count / 2]
        guard let least = rounds.first, let most = rounds.last, rounds.count > 1 else {
            return "\(Self.text(median)) a run (\(runs.counted("run")))"
        }
        return
            "\(Self.text(median)) a run (\(Self.text(least)) to \(Self.text(most)), \(rounds.count) rounds of \(runs.counted("run")))"
    }

    /// Three digits and a unit.
    static func text(_ seconds: Double) -> String {
        let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
        let unit = units.first { seconds >= $0.0 * 0.9995 } ?? (1e-9, "ns")
        let value = seconds / unit.0
        let digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        var scaled = value
        for _ in 0..<digits { scaled *= 10 }
        let whole = String(Int(scaled.rounded()))
        guard digits > 0 else { return "\(whole) \(unit.1)" }
        let padded = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        return "\(padded.dropLast(digits)).\(padded.suffix(digits)) \(unit.1)"
    }
}
