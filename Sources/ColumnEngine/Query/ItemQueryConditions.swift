/// The conditions of a query, shared by all of its refinements.
final class ItemQueryConditions {
    let all: [RowQuery.Condition]
    init(_ all: [RowQuery.Condition]) { self.all = all }
}
