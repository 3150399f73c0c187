/// The means to read mapped rows, on their way to another thread.
struct MappedRows: Sendable {
    let items: MappedItems
    let values: FaultedValues

    init(_ items: MappedItems, _ values: FaultedValues) {
        self.items = items
        self.values = values
    }

    func makeSource() -> RowSource { RowSource(items, values) }
}
