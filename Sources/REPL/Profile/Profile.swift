import Lua

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
