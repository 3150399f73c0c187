import Wording

/// How a query was answered: a tree of operators, the last one that worked on the answer on top.
///
/// Its description draws the tree, a line an operator:
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
        /// Items that an ordered index gives: those in a range of it, or in its order.
        case index
        /// Items with certain keys.
        case keys
        /// What satisfies the conditions: its children are these, in the order of their evaluation, and what gives the items.
        case filter
        /// Keeps the items for which a predicate is true.
        case condition
        /// Conditions that are joined: all of its children hold, one of them does, its child does not.
        case all, any, not
        /// Sorts.
        case sort
        /// Skips the first items.
        case offset
        /// Takes the first items.
        case limit
    }

    /// What the step does.
    public var operation: Operator
    /// What it works by: the condition's text, the keys of a sort, the number of a limit.
    public var detail: String
    /// What it reads: `column of texts, dictionary of 12`; why items are tested one by one.
    public var note = ""
    /// The rows that came to it; nil for what gives the first ones.
    public var rowsIn: Int?
    /// The rows that it passed on.
    public var rowsOut: Int
    /// How long it took, without its children that stand for operators of their own; nil without a measurement. Of a condition
    /// it is the time of all threads.
    public var duration: Duration?
    /// How many threads worked on it.
    public var threads = 1
    /// What it worked on, the conditions of a filter first.
    public var children: [ItemQueryPlan] = []

    public var description: String { ItemQueryPlanPrinter().text(of: self) }
}
