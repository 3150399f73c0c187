import Wording

/// How a query was answered: a tree of operators with the last one at the root.
///
/// Its description draws the tree, one operator per line:
///
///     limit 10                               10 →     10 rows
///     └ sort by year descending             812 →     10 rows  0.30 ms  column of integers
///       └ filter                         28,143 →    812 rows  0.41 ms  1 thread
///         ├ department == "Fine Arts"    28,143 →  2,010 rows  0.12 ms  column of texts, dictionary of 12
///         ├ year > 1900                   2,010 →    812 rows  0.10 ms  column of integers
///         └ scan of all items                     28,143 rows
public struct ItemQueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// A step's kind.
    public enum Operator: Sendable, Hashable {
        /// All items, in the store's order.
        case scan
        /// Items from an ordered index: those in a range of it, or all in its order.
        case index
        /// Items with certain keys.
        case keys
        /// Filters items: its children are the conditions, in the order of evaluation, and the source of the items.
        case filter
        /// Keeps the items for which a predicate is true.
        case condition
        /// Combined conditions: all of its children hold, one of them does, its child does not.
        case all, any, not
        /// Sorts.
        case sort
        /// Skips the first items.
        case offset
        /// Takes the first items.
        case limit
    }

    /// The kind of the step.
    public var operation: Operator
    /// Its argument: the condition's text, the keys of a sort, the number of a limit.
    public var detail: String
    /// Its input: `column of texts, dictionary of 12`; or why items are tested one by one.
    public var note = ""
    /// The number of input rows; nil for a source.
    public var rowsIn: Int?
    /// The number of output rows.
    public var rowsOut: Int
    /// Its duration without that of its child operators; nil if not measured. For a condition it is the total of all
    /// threads.
    public var duration: Duration?
    /// The number of threads.
    public var threads = 1
    /// Its inputs; of a filter, the conditions come first.
    public var children: [ItemQueryPlan] = []

    public var description: String { ItemQueryPlanPrinter().text(of: self) }
}
