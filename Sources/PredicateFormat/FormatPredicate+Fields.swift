public import PropertyList

/// Collects the fields of a tree.
extension FormatPredicate {
    @usableFromInline
    static func fields(of node: PredicateNode) -> Set<ExactText> {
        Set(paths(of: node).map { ExactText($0.field) })
    }

    /// The key paths of a tree from fields.
    package static func paths(of node: PredicateNode) -> Set<PredicateKeyPath> {
        var paths: Set<PredicateKeyPath> = []
        collect(node, &paths)
        return paths
    }

    private static func collect(_ node: PredicateNode, _ paths: inout Set<PredicateKeyPath>) {
        switch node {
        case .constant:
            break
        case .not(let inner):
            collect(inner, &paths)
        case .and(let parts), .or(let parts):
            for part in parts { collect(part, &paths) }
        case .comparison(let comparison):
            collect(comparison.left, &paths)
            collect(comparison.right, &paths)
        }
    }

    private static func collect(_ expression: FormatExpression, _ paths: inout Set<PredicateKeyPath>) {
        switch expression {
        case .constant, .local:
            break
        case .conditional(let condition, let first, let second):
            collect(condition, &paths)
            collect(first, &paths)
            collect(second, &paths)
        case .subquery(let collection, _, let condition):
            collect(collection, &paths)
            collect(condition, &paths)
        case .keyPath(let path):
            if !path.isSelf { paths.insert(path) }
        case .property(let base, _), .negated(let base):
            collect(base, &paths)
        case .aggregate(let elements), .function(_, let elements):
            for element in elements { collect(element, &paths) }
        case .arithmetic(let left, _, let right):
            collect(left, &paths)
            collect(right, &paths)
        case .element(let base, let index):
            collect(base, &paths)
            if case .index(let position) = index { collect(position, &paths) }
        }
    }
}

/// Finds computations that may have no value for values of the right kinds.
extension FormatPredicate {
    static func isPartial(_ node: PredicateNode) -> Bool {
        switch node {
        case .constant: false
        case .not(let inner): isPartial(inner)
        case .and(let parts), .or(let parts): parts.contains(where: isPartial)
        case .comparison(let comparison): comparison.left.isPartial || comparison.right.isPartial
        }
    }
}

extension FormatExpression {
    /// Whether the value may be undefined for values of the right kinds, or depends on kinds that are not known before
    /// evaluation; a division by 0 and an overflow aside.
    package var isPartial: Bool {
        switch self {
        case .constant, .keyPath: false
        case .negated(let operand): operand.isPartial
        case .arithmetic(let left, let operation, let right):
            operation.takesWholeNumbers || left.isPartial || right.isPartial
        case .aggregate(let elements): elements.contains(where: \.isPartial)
        case .property, .element, .function, .conditional, .subquery, .local: true
        }
    }

    /// Whether it divides by a value that may be 0, or raises to a power.
    package var mayDivideByZero: Bool {
        switch self {
        case .arithmetic(_, .divide, .keyPath), .arithmetic(_, .divide, .arithmetic), .arithmetic(_, .power, _): true
        case .arithmetic(let left, _, let right): left.mayDivideByZero || right.mayDivideByZero
        case .negated(let operand): operand.mayDivideByZero
        default: false
        }
    }
}
