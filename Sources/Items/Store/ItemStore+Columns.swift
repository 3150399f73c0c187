import ColumnEngine

/// What the store reads of its rows.
extension ItemStore {
    var table: ItemTable {
        _read { yield columns.table }
    }
    var order: ItemOrder {
        _read { yield columns.order }
        // Finding a place may tidy the order up.
        _modify { yield &columns.order }
    }
    var heap: CellHeap {
        _read { yield columns.heap }
    }
    var fields: FieldTable {
        _read { yield columns.fields }
    }
    var log: [Change] {
        _read { yield columns.log }
    }
    var indexes: [OrderedIndex] {
        _read { yield columns.indexes }
    }
}
