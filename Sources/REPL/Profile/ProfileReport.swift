import Lua
import Scripting
import Wording

/// A profile as a readable tree: calls with their time and share, and the costly lines of a function with their source.
struct ProfileReport {
    let profile: Profile
    let sources: SourceTexts
    let columns: Int
    /// Calls and lines below this share are left out.
    private static let least = 0.01
    /// Minimum share of its own code for a function to show its lines.
    private static let leastOwn = 0.05
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
        guard node.own >= profile.seconds * Self.leastOwn else { return [] }
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
