/// What the items of a query have to satisfy, shared by all that refine the query further.
final class ItemQueryConditions {
    let all: [RowQuery.Condition]
    init(_ all: [RowQuery.Condition]) { self.all = all }
}
