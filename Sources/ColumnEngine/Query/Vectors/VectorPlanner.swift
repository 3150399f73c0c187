import PredicateFormat
import PropertyList

/// Compiles a predicate's plan to passes over columns.
struct VectorPlanner {
    let store: ColumnStore
    let compiler: PredicateCompiler<UInt32>
    /// Whether to count each condition's rows.
    private let isCounted: Bool

    init(_ query: RowQuery, isCounted: Bool = false) {
        store = query.store
        self.isCounted = isCounted
        compiler = PredicateCompiler(accessors: query.accessor)
    }

    func test(_ plan: PredicatePlan) -> VectorTest {
        let test = uncountedTest(plan)
        return isCounted ? .counted(test, ConditionCount(plan.node.description, note(plan, test))) : test
    }

    private func uncountedTest(_ plan: PredicatePlan) -> VectorTest {
        switch plan {
        case .constant(let verdict): return .constant(verdict)
        case .all(let parts): return .all(compiler.sorted(parts).map(test))
        case .any(let parts): return .any(compiler.sorted(parts).map(test))
        case .not(let inner): return .not(test(inner))
        case .test(.keyPath(let path), .direct, let test)
        where path.rest.isEmpty && path.field != PredicateKeyPath.selfKey:
            return fieldTest(path.field, test) ?? .rows(compiler.condition(plan))
        case .test(let expression, .direct, let constant):
            guard case .arithmetic = expression, let real = RealTest(constant),
                let numbers = VectorExpression(expression, store)
            else { return .rows(compiler.condition(plan)) }
            return .numbers(numbers, real, whenAbsent: constant.whenAbsent, otherwise: compiler.condition(plan))
        case .test, .comparison: return .rows(compiler.condition(plan))
        }
    }

    /// A pass over the field's column; nil if it has to be tested row by row.
    private func fieldTest(_ name: String, _ test: PredicateConstantTest) -> VectorTest? {
        guard let field = store.fields.existing(name) else { return .constant(test.whenAbsent) }
        let absent = test.whenAbsent
        let view = store.view(field)
        if case .null = test.constant, let test = presenceTest(view, test) { return test }
        switch view {
        case .absent: return .constant(absent)
        case .integers(let values, let presence):
            return test.integer.map { .integers(values, presence: presence, $0, whenAbsent: absent) }
        case .reals(let values, let presence, _):
            return RealTest(test).map { .reals(values, presence: presence, $0, whenAbsent: absent) }
        case .dates(let values, let presence):
            return test.date.map { .dates(values, presence: presence, $0, whenAbsent: absent) }
        case .codes(let codes, let dictionary):
            // Evaluated once for each distinct value.
            return .codes(codes, dictionary.cells.map { holds($0, test) ? 1 : 0 })
        case .cells(let cells):
            return test.text.map { .cells(cells, test, $0, scan: $0.makeScan()) }
        case .mappedTexts(let column):
            return test.text.map {
                .texts(column, $0, whenAbsent: absent, isFirstScan: column.cells.beginScan())
            }
        case .rows: return nil
        }
    }

    /// A comparison with nil: every value differs from it, and is not ordered relative to it.
    private func presenceTest(_ view: ColumnView, _ test: PredicateConstantTest) -> VectorTest? {
        let whenPresent: Bool
        switch test.operation {
        case .equal: whenPresent = false
        case .notEqual: whenPresent = true
        default: return nil
        }
        switch view {
        case .integers(_, let presence), .dates(_, let presence):
            return .presence(presence, whenPresent: whenPresent, whenAbsent: test.whenAbsent)
        case .reals(_, let presence, _):
            return .presence(presence, whenPresent: whenPresent, whenAbsent: test.whenAbsent)
        case .cells(let cells): return .cellPresence(cells, whenPresent: whenPresent, whenAbsent: test.whenAbsent)
        case .codes, .mappedTexts, .rows, .absent: return nil
        }
    }

    private func holds(_ cell: Cell, _ test: PredicateConstantTest) -> Bool {
        if cell.isAbsent { return test.whenAbsent }
        if cell.isText, let text = test.text { return cell.withText { text.holds($0) } }
        return test.holds(store.heap.value(cell))
    }
}
