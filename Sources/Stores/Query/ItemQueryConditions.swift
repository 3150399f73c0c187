/// What the items of a query have to satisfy, shared by all that refine the query further.
final class ItemQueryConditions {
    let all: [ItemQuery.Condition]
    init(_ all: [ItemQuery.Condition]) { self.all = all }
}
