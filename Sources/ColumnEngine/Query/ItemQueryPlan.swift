import Wording

/// How a query is answered: whether an index serves, and how many items are looked at.
public struct ItemQueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// The index that gives the items to look at; nil for a scan of the store.
    public var index: String?
    /// The items that are looked at.
    public var examined: Int
    /// The items that satisfy the conditions.
    public var matched: Int
    /// The fields that the answer is sorted by, `-` in front of descending ones.
    public var sortFields: [String]
    /// Whether the index gives the items in that order already.
    public var isInIndexOrder = false
    /// How many of the sorted items are kept; nil for all.
    public var kept: Int?

    /// `scan: 100000 items examined, 17 match; sorted by -valueInDollars, the first 10 kept`.
    public var description: String {
        var text = index.map { "index \($0)" } ?? "scan"
        text += ": \(examined) \(examined.word("item")) examined, \(matched) \(matched.word("matches", "match"))"
        if !sortFields.isEmpty {
            text += "; \(isInIndexOrder ? "in the index's order" : "sorted") by \(sortFields.joined(separator: ", "))"
            if let kept { text += ", the first \(kept) kept" }
        }
        return text
    }
}

extension RowQuery {
    /// How the query is answered. Runs it, and builds the index that serves it if it is not built yet.
    package func explain() throws -> ItemQueryPlan {
        var statistics = ItemQueryStatistics()
        statistics.isExplained = true
        let answer = try rows(&statistics)
        var whole = self
        (whole.limitCount, whole.offsetCount, whole.order) = (nil, 0, ItemSortOrder())
        return ItemQueryPlan(
            index: statistics.index.map(store.fields.name), examined: statistics.examined,
            matched: limitCount == nil && offsetCount == 0 ? answer.count : try whole.count(),
            sortFields: order.keys.map { ($0.isDescending ? "-" : "") + store.text(of: $0.key) },
            isInIndexOrder: statistics.isInIndexOrder,
            kept: limitCount.map { $0.addingReportingOverflow(offsetCount).partialValue })
    }
}
