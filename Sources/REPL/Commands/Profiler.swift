import Application
import Files
import Glibc
import Lua
import Scripting
import Synchronization

/// Samples a host's scripts while an entry runs.
///
/// A thread interrupts the state every millisecond. At the next Lua instruction, or when the running native function
/// returns, the time since the last sample is added to the call stack: so a long native function has all of its time.
/// While tasks wait, the time is added to the call stack of the waiting entry.
final class Profiler {
    private static let interval: UInt32 = 1000
    /// Maximum number of innermost calls per sample.
    private static let depth = 100

    private let host: ScriptHost
    private var profile = Profile()
    private var last = MonotonicTime.now()
    /// The calls of the last sample, for the time left when a task ends.
    private var calls: [LuaActiveCall] = []
    /// The coroutine of the entry: the first one to run.
    private var thread: LuaThread?

    private let isEnded = Shared()

    /// Starts to sample a host's scripts; nil while another profiler does.
    init?(_ host: ScriptHost) {
        guard !host.hasCallObserver else { return nil }
        self.host = host
        let interrupter = host.state.interrupter
        host.observeCalls(
            sample: { [unowned self] in sample() },
            onSwitch: { [unowned self] thread, runs in if runs { begins(thread) } else { pauses() } })
        _ = WorkerThread { [isEnded] in
            while !isEnded.value.load(ordering: .relaxed) {
                usleep(Self.interval)
                interrupter.interrupt(.sample)
            }
        }
        last = .now()
    }

    deinit { if !isEnded.value.load(ordering: .relaxed) { _ = end() } }

    /// Stops sampling.
    ///
    /// - Returns: the profile.
    func end() -> Profile {
        isEnded.value.store(true, ordering: .relaxed)
        host.observeCalls(sample: nil, onSwitch: nil)
        return profile
    }

    private final class Shared: Sendable { let value = Atomic(false) }

    private func sample() {
        calls = host.state.activeCalls(limit: Self.depth)
        add(calls)
    }

    private func begins(_ new: LuaThread) {
        guard let thread else {
            thread = new
            last = .now()
            return
        }
        // Code of another task may run within a waiting call of this one.
        add(host.state.depth > 0 ? host.state.activeCalls(limit: Self.depth) : thread.activeCalls(limit: Self.depth))
    }

    private func pauses() { add(calls) }

    private func add(_ calls: [LuaActiveCall]) {
        let now = MonotonicTime.now()
        profile.add(now.seconds(since: last), in: calls)
        last = now
    }
}

/// The distribution of time: a tree of calls, each with the time of its own code and of its lines.
struct Profile: Sendable {
    struct Node: Sendable {
        let function: LuaActiveCall.Function?
        /// Seconds in the function itself and its callees.
        fileprivate(set) var total = 0.0
        /// Seconds in the function itself, by line.
        fileprivate(set) var lines: [Int: Double] = [:]
        /// The callees, by their indices in the nodes.
        fileprivate(set) var callees: [LuaActiveCall.Function: Int] = [:]

        var own: Double { lines.values.reduce(0, +) }
    }

    /// The calls; the first node is the root, for functions without a caller.
    private(set) var nodes = [Node(function: nil)]
    /// The number of samples.
    private(set) var samples = 0
    /// Maximum number of nodes: a profile of generated functions stays small.
    private static let limit = 50_000

    init() {}

    var seconds: Double { nodes[0].total }

    /// Adds time spent in a call. A function that calls itself is one node.
    ///
    /// - Parameters:
    ///   - seconds: the time.
    ///   - calls: the active calls, outermost first.
    mutating func add(_ seconds: Double, in calls: [LuaActiveCall]) {
        samples += 1
        var place = 0
        var line = 0
        nodes[0].total += seconds
        // The host's own function around a script has no name.
        for call in calls.drop(while: { $0.function.isNative && $0.function.name == nil }) {
            line = call.line
            if nodes[place].function == call.function { continue }
            if let known = nodes[place].callees[call.function] {
                place = known
            } else if nodes.count < Self.limit {
                nodes.append(Node(function: call.function))
                nodes[place].callees[call.function] = nodes.count - 1
                place = nodes.count - 1
            } else {
                break
            }
            nodes[place].total += seconds
        }
        nodes[place].lines[line, default: 0] += seconds
    }
}

/// A profile as a readable tree: calls with their time and share, and the costly lines of a function with their source.
struct ProfileReport {
    let profile: Profile
    let sources: SourceTexts
    let columns: Int
    /// Calls and lines below this share are left out.
    private static let least = 0.01
    /// Minimum share of its own code for a function to show its lines.
    private static let leastSelfTime = 0.05
    private static let lineCount = 3
    private static let levels = 40

    var text: String {
        var rows: [Row] = []
        let root = profile.nodes[0]
        for callee in sorted(root) { add(callee, below: [], isLast: true, to: &rows) }
        let width = rows.map(\.time.count).max() ?? 0
        let lines = rows.map { row in
            let (time, share) = (row.time.padded(to: width, isRight: true), row.share.padded(to: 3, isRight: true))
            return TextTable.cut("\(time)  \(share) %  \(row.tree)", to: columns)
        }
        let total = "\(ValuePrinter.duration(profile.seconds)), \(profile.samples.counted("sample"))"
        return ([total] + lines).joined(separator: "\n") + "\n"
    }

    private struct Row {
        let time: String
        let share: String
        let tree: String
    }

    private func row(_ seconds: Double, _ tree: String) -> Row {
        Row(
            time: ValuePrinter.duration(seconds), share: String(Int((100 * seconds / profile.seconds).rounded())),
            tree: tree)
    }

    /// The callees above the minimum share, the longest first.
    private func sorted(_ node: Profile.Node) -> [Profile.Node] {
        node.callees.values.map { profile.nodes[$0] }.filter { $0.total >= profile.seconds * Self.least }
            .sorted { $0.total > $1.total }
    }

    /// Adds a call, its lines and its callees.
    ///
    /// - Parameters:
    ///   - node: the call.
    ///   - stems: the tree lines of the levels above, one per level.
    ///   - isLast: whether no other call of its caller follows.
    ///   - rows: receives the rows.
    private func add(_ node: Profile.Node, below stems: [String], isLast: Bool, to rows: inout [Row]) {
        guard let function = node.function else { return }
        let branch = stems.isEmpty ? "" : isLast ? "└ " : "├ "
        rows.append(row(node.total, stems.dropFirst().joined() + branch + Self.title(function)))
        guard stems.count < Self.levels else { return }
        let inner = stems + [stems.isEmpty ? "" : isLast ? "  " : "│ "]
        let callees = sorted(node)
        for (line, seconds) in hottest(node) {
            let text = sources.line(line, of: function.source).map { "  " + $0.trimmed } ?? ""
            rows.append(row(seconds, inner.dropFirst().joined() + "· line \(line)\(VisibleText.line(text))"))
        }
        for (index, callee) in callees.enumerated() {
            add(callee, below: inner, isLast: index == callees.count - 1, to: &rows)
        }
    }

    private func hottest(_ node: Profile.Node) -> [(Int, Double)] {
        guard node.own >= profile.seconds * Self.leastSelfTime else { return [] }
        return node.lines.filter { $0.key > 0 && $0.value >= profile.seconds * Self.least }
            .sorted { $0.value > $1.value }.prefix(Self.lineCount).map { ($0.key, $0.value) }
    }

    /// `discount  rules.lua:12`; a function of the host has no place, a chunk no name.
    private static func title(_ function: LuaActiveCall.Function) -> String {
        let name = function.name.map { VisibleText.line($0) }
        if function.isNative { return "\(name ?? "a native function")  (native)" }
        let place = VisibleText.line(function.source)
        if function.line == 0 { return place }
        return "\(name ?? "function")  \(place):\(function.line)"
    }
}

/// `:profile` and `:bench`.
extension PromptSession {
    func profile(_ entry: String, then end: @escaping () -> Void) {
        guard !entry.isEmpty else {
            return complain(":profile needs an entry: :profile items:query(\"name != nil\"):count()", then: end)
        }
        guard let profiler = Profiler(host) else {
            return complain("another prompt's entry is being profiled; try again when it has ended", then: end)
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
            return complain(":bench needs an entry: :bench (\"x\"):rep(1000)", then: end)
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
                reportChanges(undo: "one round a time with :undo")
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
