/// Collects the fields of a tree.
extension FormatPredicate {
    @usableFromInline
    static func fields(of node: PredicateNode) -> Set<String> {
        var fields: Set<String> = []
        collect(node, &fields)
        return fields
    }

    private static func collect(_ node: PredicateNode, _ fields: inout Set<String>) {
        switch node {
        case .constant:
            break
        case .not(let inner):
            collect(inner, &fields)
        case .and(let parts), .or(let parts):
            for part in parts { collect(part, &fields) }
        case .comparison(let comparison):
            collect(comparison.left, &fields)
            collect(comparison.right, &fields)
        }
    }

    private static func collect(_ expression: FormatExpression, _ fields: inout Set<String>) {
        switch expression {
        case .constant, .local:
            break
        case .conditional(let condition, let first, let second):
            collect(condition, &fields)
            collect(first, &fields)
            collect(second, &fields)
        case .subquery(let collection, _, let condition):
            collect(collection, &fields)
            collect(condition, &fields)
        case .keyPath(let path):
            if !path.isSelf { fields.insert(path.field) }
        case .property(let base, _), .negated(let base):
            collect(base, &fields)
        case .aggregate(let elements), .function(_, let elements):
            for element in elements { collect(element, &fields) }
        case .arithmetic(let left, _, let right):
            collect(left, &fields)
            collect(right, &fields)
        case .element(let base, let index):
            collect(base, &fields)
            if case .index(let position) = index { collect(position, &fields) }
        }
    }
}
