import Wording

/// Items that an answer of a query left out, because a value was of a kind that a comparison or a computation does not
/// take: `n > 5 left out 2 items whose n is text`.
///
/// `onLeftOut` of the store above is called with them, once for each answer.
public struct ItemsLeftOut: Sendable, Hashable, CustomStringConvertible {
    /// The comparison, the aggregate or the sort: `n > 5`, `sum(n)`, `sorted(n)`.
    public let operation: String
    /// The value at fault: a field, a key path, or an expression.
    public let subject: String
    /// What is wrong with it: `is text`.
    public let reason: String
    /// Whether the items are in the answer, apart from those that could be compared: in a sort.
    public let areKept: Bool
    /// The number of items.
    public let count: Int

    public var description: String {
        "\(operation) \(areKept ? "kept apart" : "left out") \(count.counted("item")) whose \(subject) \(reason)"
    }
}

/// The items left out by one answer.
struct LeftOutTally {
    private struct Key: Hashable {
        let operation: String, subject: String, reason: String
        let areKept: Bool
    }

    private var keys: [Key] = []
    private var counts: [Key: Int] = [:]

    var isEmpty: Bool { keys.isEmpty }

    /// In the order in which they were noted.
    var all: [ItemsLeftOut] {
        keys.map {
            ItemsLeftOut(
                operation: $0.operation, subject: $0.subject, reason: $0.reason, areKept: $0.areKept,
                count: counts[$0] ?? 0)
        }
    }

    mutating func note(_ operation: String, _ subject: String, _ reason: String, _ count: Int, areKept: Bool = false) {
        if count == 0 { return }
        let key = Key(operation: operation, subject: subject, reason: reason, areKept: areKept)
        if counts[key] == nil { keys.append(key) }
        counts[key, default: 0] += count
    }
}

extension ColumnStore {
    /// Runs a body that answers a question, and reports the items that the answer left out.
    ///
    /// - Throws: errors of the body, and of `onLeftOut`.
    package func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        guard let onLeftOut else { return try body() }
        // A function of the body may ask questions of its own.
        let outer = leftOut
        leftOut = LeftOutTally()
        defer { leftOut = outer }
        let result = try body()
        if !leftOut.isEmpty { try onLeftOut(leftOut.all) }
        return result
    }
}
