import Application
import Lua
import Scripting

/// `:profile` and `:bench`.
extension PromptSession {
    func profile(_ entry: String, then end: @escaping () -> Void) {
        guard !entry.isEmpty else {
            complain(":profile needs an entry: :profile items:query(\"name != nil\"):count()")
            return end()
        }
        guard let profiler = Profiler(host) else {
            complain("another prompt's entry is being profiled; try again when it has ended")
            return end()
        }
        run(entry, timed: false) { [self] in
            let profile = profiler.end()
            if host.exitCode == nil, profile.seconds > 0 {
                page(ProfileReport(profile: profile, sources: host.sources, columns: printer.columns).text)
            }
            end()
        }
    }

    func bench(_ entry: String, then end: @escaping () -> Void) {
        guard !entry.isEmpty else {
            complain(":bench needs an entry: :bench (\"x\"):rep(1000)")
            return end()
        }
        changes = ChangeNotice()
        do throws(LuaError) {
            let function = try host.state.loadEntry(
                entry, name: "=:bench", environment: evaluator.scope.environment)
            measure(Benchmark(), function) { [self] result in
                switch result {
                case .success(let benchmark): print(WrappedText.wrapped(benchmark.text, to: printer.columns) + "\n")
                case .failure(let error): report(error)
                }
                reportChanges()
                end()
            }
        } catch {
            report(error)
            end()
        }
    }

    /// Runs a function until the measurement is done. Changes are committed after each round.
    private func measure(
        _ benchmark: Benchmark, _ function: LuaFunction,
        completion: @escaping (Result<Benchmark, LuaError>) -> Void
    ) {
        guard let runs = benchmark.next else { return completion(.success(benchmark)) }
        do throws(LuaError) {
            let loop = try Benchmark.loop(function, runs: runs, on: host)
            let start = MonotonicTime.now()
            terminal.run(loop, isEntry: false) { [self] result in
                let seconds = MonotonicTime.now().seconds(since: start)
                switch result {
                case .success:
                    var benchmark = benchmark
                    benchmark.add(seconds)
                    measure(benchmark, function, completion: completion)
                case .failure(let error): completion(.failure(error))
                }
            }
        } catch { completion(.failure(error)) }
    }
}

/// Measures the duration of an entry by running it repeatedly: in rounds of many runs, whose number grows until a round
/// is long enough. This also warms up caches.
struct Benchmark: Sendable {
    /// Number of measured rounds.
    private static let count = 7
    /// Seconds that a round should take: long compared with the clock's resolution and interruptions.
    private static let length = 0.15
    private static let mostRuns = 100_000_000

    /// Seconds per run, for each round that is long enough.
    private var rounds: [Double] = []
    /// Number of runs per round.
    private var runs = 1
    private var wantedRounds = 0

    /// The runs of the next round; nil at the end.
    var next: Int? { wantedRounds > 0 && rounds.count >= wantedRounds ? nil : runs }

    /// A function that runs another repeatedly. The loop is in Lua: it adds only the call of the function.
    static func loop(_ function: LuaFunction, runs: Int, on host: ScriptHost) throws(LuaError) -> LuaFunction {
        let source = "local run, count = ... return function() for _ = 1, count do run() end end"
        let maker = try host.state.load(Array(source.utf8), name: "=bench")
        let made = try host.run(maker, [.function(function), .integer(Int64(runs))]).get().first
        guard case .function(let loop)? = made else { return function }
        return loop
    }

    /// Adds the next round.
    mutating func add(_ seconds: Double) {
        if wantedRounds == 0, seconds < Self.length, runs < Self.mostRuns {
            let wanted = Double(runs) * Self.length / max(seconds, 1e-6)
            runs = min(max(Int(wanted), runs * 2), runs * 100, Self.mostRuns)
            return
        }
        // A long entry is not run seven times.
        if wantedRounds == 0 { wantedRounds = seconds > 2 ? 1 : seconds > 0.5 ? 3 : Self.count }
        rounds.append(seconds / Double(runs))
    }

    /// `1.26 µs a run (1.24 to 1.31 µs, 7 rounds of 119,047)`.
    var text: String {
        let rounds = rounds.sorted()
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
