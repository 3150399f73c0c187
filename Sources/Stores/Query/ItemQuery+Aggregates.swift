public import PropertyList

extension ItemQuery {
    /// The sum of a field's numbers: an integer as long as all are and the sum fits 64 bits, else a real. Items without
    /// the field count as none; without any the sum is the integer 0.
    ///
    /// - Throws: ``StoreError`` for a field that no item has, and for a value that is no number.
    public func sum(_ field: String) throws -> PropertyListValue {
        try totals(field).sum
    }

    /// The mean of a field's numbers; nil when there are none.
    public func average(_ field: String) throws -> Double? {
        try totals(field).average
    }

    /// The least of a field's values in the order of ``sorted(_:descending:)``; nil when no item has the field.
    public func min(_ field: String) throws -> PropertyListValue? {
        try ItemAggregate.extreme(store, rows()[...], store.queriedField(field), wanted: -1)
    }

    /// The greatest of a field's values; nil when no item has the field.
    public func max(_ field: String) throws -> PropertyListValue? {
        try ItemAggregate.extreme(store, rows()[...], store.queriedField(field), wanted: 1)
    }

    /// The items in groups of equal values of a field, in order of appearance; those without the field are one group.
    ///
    /// `name.firstWord`, with any field of text, groups by what stands before the first space.
    public func groupBy(_ field: String) throws -> [ItemGroup] {
        if field.hasSuffix(FirstWordGroups.suffix), store.fields.existing(field) == nil {
            return try groupByFirstWord(store.queriedField(String(field.dropLast(FirstWordGroups.suffix.count))))
        }
        let field = try store.queriedField(field)
        var numbers: [CellKey: Int] = [:]
        var groups: [ItemGroup] = []
        for row in try rows() {
            let key = CellKey(store, row, field)
            if let number = numbers[key] {
                groups[number].rows.append(row)
            } else {
                numbers[key] = groups.count
                groups.append(ItemGroup(store: store, key: store.value(row, field), rows: [row]))
            }
        }
        return groups
    }

    private func groupByFirstWord(_ field: ItemField) throws -> [ItemGroup] {
        var groups = FirstWordGroups(store, field)
        if hasConditions || !order.isEmpty || limitCount != nil || offsetCount > 0 {
            try visitOrdered { row in groups.add(row) }
        } else {
            groups.addAll()
        }
        return groups.groups()
    }

    /// Calls a body with each row of the answer.
    private func visitOrdered(_ body: (UInt32) -> Void) throws {
        guard order.isEmpty else { return try rows().forEach(body) }
        try visit(changes: false) { row in
            body(row)
            return true
        }
    }

    /// The items in groups for which a function gives equal values.
    public func groupBy(_ key: (Item) throws -> PropertyListValue?) throws -> [ItemGroup] {
        var numbers: [PropertyListValue?: Int] = [:]
        var groups: [ItemGroup] = []
        try store.pinningRows {
            for row in try rows() where store.table.state(row) == .live {
                let value = try key(store.item(row: row))
                if let number = numbers[value] {
                    groups[number].rows.append(row)
                } else {
                    numbers[value] = groups.count
                    groups.append(ItemGroup(store: store, key: value, rows: [row]))
                }
            }
        }
        return groups
    }

    /// The different values of a field, in order of appearance, absent ones left out.
    public func distinct(_ field: String) throws -> [PropertyListValue] {
        let field = try store.queriedField(field)
        var seen: Set<CellKey> = []
        var values: [PropertyListValue] = []
        for row in try rows() {
            let key = CellKey(store, row, field)
            if key.isAbsent || !seen.insert(key).inserted { continue }
            if let value = store.value(row, field) { values.append(value) }
        }
        return values
    }

    private func totals(_ field: String) throws -> ItemAggregate {
        let field = try store.queriedField(field)
        var totals = ItemAggregate()
        var query = self
        if limitCount == nil, offsetCount == 0 { query.order = ItemSortOrder() }
        if !hasConditions, query.order.isEmpty { store.table.bringIn(field) }
        guard query.order.isEmpty else {
            for row in try query.rows() { try totals.add(store, row, field) }
            return totals
        }
        try query.visit(changes: false) { row in
            try totals.add(store, row, field)
            return true
        }
        return totals
    }
}
