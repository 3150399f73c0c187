import ColumnEngine
import PredicateFormat

/// A condition on a model's items, built from attributes: `Book.pages > 300 && !Book.title.hasPrefix("A")`.
///
/// It is a predicate tree, not a function: the engine plans it onto indexes and columns.
public struct ItemCondition<Model>: Sendable {
    let node: PredicateNode

    init(_ node: PredicateNode) { self.node = node }

    /// Both conditions hold.
    public static func && (first: Self, second: Self) -> Self {
        ItemCondition(.and(first.parts(of: \.conjunction) + second.parts(of: \.conjunction)))
    }

    /// At least one of the conditions holds.
    public static func || (first: Self, second: Self) -> Self {
        ItemCondition(.or(first.parts(of: \.disjunction) + second.parts(of: \.disjunction)))
    }

    /// The condition does not hold.
    public static prefix func ! (condition: Self) -> Self { ItemCondition(.not(condition.node)) }

    /// The operands of a chain, which becomes a single node so that a long chain is not a deep tree.
    private func parts(of operands: (PredicateNode) -> [PredicateNode]?) -> [PredicateNode] {
        operands(node) ?? [node]
    }
}

extension PredicateNode {
    fileprivate var conjunction: [PredicateNode]? { if case .and(let parts) = self { parts } else { nil } }
    fileprivate var disjunction: [PredicateNode]? { if case .or(let parts) = self { parts } else { nil } }

    /// The condition with a field renamed. A condition's comparisons have the field on the left.
    func renaming(_ field: String, to name: String) -> PredicateNode {
        switch self {
        case .constant: return self
        case .not(let inner): return .not(inner.renaming(field, to: name))
        case .and(let parts): return .and(parts.map { $0.renaming(field, to: name) })
        case .or(let parts): return .or(parts.map { $0.renaming(field, to: name) })
        case .comparison(var comparison):
            if case .keyPath(let path) = comparison.left, path.field == field {
                comparison.left = .keyPath(PredicateKeyPath(name, path.rest))
            }
            return .comparison(comparison)
        }
    }
}
