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
            let time = String(repeating: " ", count: width - row.time.count) + row.time
            let share = String(repeating: " ", count: 3 - row.share.count) + row.share
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
