package import PredicateFormat
package import PropertyList

/// A query's key as an operator's input: a cell for each row of a batch.
enum VectorKey {
    case view(ColumnView, ItemField)
    case numbers(VectorExpression, otherwise: (UInt32) -> PropertyListValue?, KeyAudit?)
    case values((UInt32) throws -> PropertyListValue?, KeyAudit?)

    init(_ key: QueryKey, _ store: ColumnStore) throws {
        switch key {
        case .field(let field): self = .view(store.view(field), field)
        case .expression(let expression, let text):
            let audit = try KeyAudit(expression, text, store)
            let value = store.compiler.value(expression)
            if let numbers = VectorExpression(expression, store) {
                self = .numbers(numbers, otherwise: value, audit)
            } else {
                self = .values(value, audit)
            }
        case .function(let function): self = .values(function, nil)
        }
    }

    /// The count of the rows for which it has no value; nil if it has one for each row that has its fields.
    var audit: KeyAudit? {
        switch self {
        case .numbers(_, _, let audit), .values(_, let audit): audit
        case .view: nil
        }
    }

    /// Whether it reads only columns, which any thread may do while the store does not change.
    var readsColumnsAlone: Bool {
        switch self {
        case .view(.rows, _), .view(.mappedTexts, _), .numbers, .values: false
        case .view: true
        }
    }

    /// The value of a cell that was read with a heap; a column's own boxes are in the store's.
    func value(_ cell: Cell, _ store: ColumnStore, _ heap: CellHeap) -> PropertyListValue {
        if case .view(.cells, _) = self { return store.heap.value(cell) ?? .null }
        return heap.value(cell) ?? .null
    }

    /// Calls a body with the cell of each of some rows. Texts are valid until the store changes or the heap is freed.
    func withCells<Result>(
        _ rows: UnsafeBufferPointer<UInt32>, _ store: ColumnStore, _ heap: inout CellHeap,
        _ body: (UnsafeMutableBufferPointer<Cell>) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
            try read(rows, store, &heap, cells)
            return try body(cells)
        }
    }

    /// Reads the cell of each of some rows.
    func read(
        _ rows: UnsafeBufferPointer<UInt32>, _ store: ColumnStore, _ heap: inout CellHeap,
        _ cells: UnsafeMutableBufferPointer<Cell>
    ) throws {
        switch self {
        case .view(let view, let field): Self.read(view, field, rows, store, &heap, cells)
        case .numbers(let expression, let otherwise, _):
            let batch = UnsafeMutableBufferPointer(mutating: rows)
            expression.withNumbers(batch) { numbers, states in
                for place in rows.indices {
                    switch states[place] {
                    case VectorExpression.State.absent: cells[place] = .absent
                    case VectorExpression.State.real: cells[place] = .real(numbers[place])
                    case VectorExpression.State.integer: cells[place] = .integer(Int64(numbers[place]))
                    default: cells[place] = otherwise(rows[place]).map { heap.cell($0) } ?? .absent
                    }
                }
            }
        case .values(let value, _):
            for place in rows.indices { cells[place] = try value(rows[place]).map { heap.cell($0) } ?? .absent }
        }
        if let audit { for place in rows.indices where cells[place].isAbsent { audit.record(rows[place]) } }
    }

    private static func read(
        _ view: ColumnView, _ field: ItemField, _ rows: UnsafeBufferPointer<UInt32>, _ store: ColumnStore,
        _ heap: inout CellHeap, _ cells: UnsafeMutableBufferPointer<Cell>
    ) {
        switch view {
        case .absent: cells.update(repeating: .absent)
        case .numbers(let numbers): for place in rows.indices { cells[place] = numbers.cell(rows[place]) }
        case .codes(let codes, let dictionary):
            dictionary.cells.withUnsafeBufferPointer { entries in
                for place in rows.indices { cells[place] = entries[Int(codes[Int(rows[place])])] }
            }
        case .cells(let column):
            for place in rows.indices { cells[place] = column[Int(rows[place])] }
        case .mappedTexts(let column):
            column.cells.materialiseTexts(UnsafeMutableBufferPointer(mutating: rows))
            for place in rows.indices { cells[place] = column.cells[rows[place]] }
        case .rows:
            for place in rows.indices {
                if field == store.table.keyField {
                    cells[place] = store.table.withKey(rows[place]) { heap.text($0) }
                    continue
                }
                let cell = store.table.cell(rows[place], field)
                // A boxed value is in the store's heap: the key's readers have their own.
                cells[place] = cell.kind == .box ? heap.cell(store.heap.value(ofBox: cell)) : cell
            }
        }
    }
}

/// A key by which a query groups, sorts or aggregates.
package enum QueryKey {
    /// The value of a field.
    case field(ItemField)
    /// An expression of the predicate language, and its text.
    case expression(FormatExpression, text: String)
    /// The result of a function of a row.
    case function((UInt32) throws -> PropertyListValue?)

    /// The field that it is the value of; nil for an expression and a function.
    var field: ItemField? { if case .field(let field) = self { field } else { nil } }
}

extension ColumnStore {
    /// A key path from the shortest of its beginnings that is a field's name: `dims.w` is the part of the field `dims`, or
    /// else the field `dims.w`. The path itself if no beginning is one.
    package func resolved(_ path: PredicateKeyPath) -> PredicateKeyPath {
        if path.isSelf { return path }
        var (name, rest) = (path.field, path.rest[...])
        while fields.existing(name) == nil {
            guard let next = rest.popFirst(), !next.hasPrefix("@") else { return path }
            name += "." + next
        }
        return PredicateKeyPath(name, Array(rest))
    }

    /// The field and the keys behind it that a text with points means; nil if it is not a key path.
    package func path(_ text: String) -> PredicateKeyPath? {
        guard text.utf8.contains(UInt8(ascii: ".")), let expression = try? FormatExpression(format: text) else {
            return nil
        }
        switch expression {
        case .keyPath(let path): return resolved(path)
        // SELF['dims.w'] is the field of the whole name.
        case .element(.keyPath(let path), .index(.constant(.string(let name)))) where path.isSelf && path.rest.isEmpty:
            return PredicateKeyPath(name)
        default: return nil
        }
    }

    /// The field of a name that is not a path into another field.
    func keyField(_ text: String) -> ItemField? {
        guard let field = fields.existing(text), path(text)?.rest.isEmpty ?? true else { return nil }
        return field
    }

    /// Parses a key: the field of that name if it exists, otherwise an expression over fields.
    ///
    /// - Throws: `unknownField` for a name that no item has; `invalidExpression` for a malformed expression, and for one
    ///   that has a value for no item because of the kinds of their values.
    package func key(_ text: String) throws(StoreError) -> QueryKey {
        if let field = keyField(text) { return .field(field) }
        return try StoreError.answering { try expressionKey(text) }
    }

    private func expressionKey(_ text: String) throws -> QueryKey {
        // An empty store has no fields, and accepts every key.
        let isEmpty = count == 0
        // A single name means a field.
        if !isEmpty,
            text.utf8.allSatisfy({
                $0 == UInt8(ascii: "_") || $0 >= 0x80 || ($0 | 0x20) &- UInt8(ascii: "a") < 26
                    || $0 &- UInt8(ascii: "0") < 10
            })
        {
            try checkQueried(text)
        }
        let expression = try FormatExpression(format: text).replacingPaths(resolved)
        for name in expression.fieldNames { try checkQueried(name) }
        if !isEmpty { try check(expression, text: text) }
        return .expression(expression, text: text)
    }

    /// The key's text, for users.
    func text(of key: QueryKey) -> String {
        switch key {
        case .field(let field): fields.name(of: field)
        case .expression(_, let text): text
        case .function: "a function"
        }
    }

    /// Refuses a name that no item has. An empty store knows no custom fields: it only refuses a name that resembles
    /// one of the domain's.
    private func checkQueried(_ name: String) throws(StoreError) {
        if count == 0, NearestNames.nearest(to: name, among: fields.names).isEmpty { return }
        _ = try queriedField(name)
    }

    /// The field named by a query.
    package func queriedField(_ name: String) throws(StoreError) -> ItemField {
        if let field = fields.existing(name) { return field }
        recordWholeRead()
        let nearest = NearestNames.nearest(to: name, among: fields.names)
        let hint = nearest.isEmpty ? "" : ": did you mean \(nearest.joined(separator: " or "))?"
        throw StoreError(.unknownField(name), "no item has a field \(name)\(hint)")
    }
}
