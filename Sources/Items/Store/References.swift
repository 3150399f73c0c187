import ColumnEngine
import PredicateFormat
package import PropertyList

/// Items that refer to one another, by fields that are declared to.
extension ItemStore {
    /// Whether fields are declared to refer to items.
    package var hasReferences: Bool { columns.hasReferences }

    /// What a field refers to.
    package enum Related {
        /// One item.
        case one(Item)
        /// The items of an array, in its order.
        case many([Item])
    }

    /// What a field of an item refers to; nil for a field that refers to nothing, without a value, and for a value that is
    /// the id of no item, which is then as it is.
    package func related(_ item: Item, _ name: String) throws(StoreError) -> Related? {
        guard columns.hasReferences, let field = columns.existingField(named: name),
            let declaration = columns.declaration(of: field), declaration.references != nil,
            let value = try item.value(for: field)
        else { return nil }
        let targets = value.referredIDs.compactMap { columns.target($0, declaration) }
        if targets.count < value.referredIDs.count { return nil }
        if case .array = value { return .many(targets.map(self.item(row:))) }
        return targets.first.map { .one(self.item(row: $0)) }
    }

    /// The value that refers to an item, for a field declared to refer to items of its kind.
    ///
    /// - Throws: `invalidValue` for an item of another kind, and a field that refers to none; `itemRemoved`.
    package func reference(to item: Item, inField name: String) throws(StoreError) -> PropertyListValue {
        let row = try row(item.reference)
        let declaration = columns.existingField(named: name).flatMap(columns.declaration(of:))
        guard let declaration, let kind = declaration.references?.kind else {
            throw StoreError(
                .invalidValue(field: name),
                "\(name) refers to no items: declare its references, the kind of those that it refers to")
        }
        guard columns.kind(row) == kind else {
            let own = columns.kind(row).map { "is \($0.withArticle)" } ?? "has no kind"
            throw StoreError(
                .invalidValue(field: name), "\(name) refers to \(kind.withArticle), and \(columns.label(row)) \(own)")
        }
        let id = columns.id(row, in: columns.idField)
        // As the item itself has it, and as others refer to it.
        let own = columns.idField.flatMap { columns.value(row, $0) }.flatMap { ItemKind.text(of: $0) == id ? $0 : nil }
        let value = declaration.kind == .integer ? ItemKind.number(of: id) : own
        return value ?? .string(id)
    }

    // MARK: Removing

    /// What the removal of items changes, all at once: none of them keeps another one.
    ///
    /// Found wave by wave: the items that refer to the given ones, those that refer to these, and so on. Each wave is one
    /// search in each field that refers to items, and a chain of items may be long.
    ///
    /// - Throws: `referenced` for one that another item refers to, and has to.
    func consequences(ofRemoving rows: [UInt32]) throws(StoreError) -> RemovalConsequences {
        var result = RemovalConsequences(removed: Set(rows))
        var denials: [(row: UInt32, field: String, target: UInt32)] = []
        var wave = rows
        while !wave.isEmpty {
            var next: [UInt32] = []
            for (field, declaration) in columns.references {
                let targets = targets(among: wave, of: declaration)
                if targets.isEmpty { continue }
                for row in try self.rows(referringBy: declaration, field, to: targets) {
                    switch declaration.references?.onDelete ?? .deny {
                    case .cascade: if result.removed.insert(row).inserted { next.append(row) }
                    case .nullify: result.losses.append((row, field, declaration))
                    case .deny:
                        let value = columns.value(row, field)?.referredIDs.first { targets[$0] != nil }
                        if let target = value.flatMap({ targets[$0] }) {
                            denials.append((row, declaration.name, target))
                        }
                    }
                }
            }
            result.further += next
            wave = next
        }
        let open = denials.filter { !result.removed.contains($0.row) }
        if let denial = open.first {
            throw StoreError(
                .referenced(field: denial.field),
                "\(columns.label(denial.target)) is the \(denial.field) of \(columns.label(denial.row))"
                    + (open.count > 1 ? " and of \((open.count - 1).counted("other item"))" : "")
                    + ": it is not removed")
        }
        result.losses.removeAll { result.removed.contains($0.row) }
        return result
    }

    /// Makes the changes, apart from the removal of the items that it is about.
    func carryOut(_ consequences: RemovalConsequences) throws {
        for (row, field, declaration) in consequences.losses where columns.isLive(row) {
            if Interruption.isDue { throw WorkStopped() }
            func isLost(_ id: PropertyListValue) -> Bool {
                columns.target(id, declaration).map(consequences.removed.contains) ?? false
            }
            switch columns.value(row, field) {
            case .array(let ids)?: try set(row, field, .array(ids.filter { !isLost($0) }))
            case let id?: if isLost(id) { try set(row, field, nil) }
            case nil: continue
            }
        }
        // Those that refer to others first.
        for row in consequences.further.reversed() where columns.isLive(row) {
            if Interruption.isDue { throw WorkStopped() }
            try takeOut(row: row)
        }
    }

    /// The values of a field that refer to items, each with its item.
    private func targets(among rows: [UInt32], of declaration: FieldDeclaration) -> [PropertyListValue: UInt32] {
        guard let kind = declaration.references?.kind else { return [:] }
        var targets: [PropertyListValue: UInt32] = [:]
        for row in rows where columns.isOf(kind, row) {
            for value in columns.ids(row).flatMap(ItemKind.values) where columns.target(value, declaration) == row {
                targets[value] = row
            }
        }
        return targets
    }

    /// The items that have one of some values in a field: from its index, or by one scan of its column.
    private func rows(
        referringBy declaration: FieldDeclaration, _ field: ItemField, to targets: [PropertyListValue: UInt32]
    ) throws(StoreError) -> [UInt32] {
        // Of values of one kind the index finds those that are equal; others would be reported as left out.
        let isText = declaration.kind == .string
        guard isText || declaration.kind == .integer, !columns.holdsBoxes(field), columns.kindSet(field).isPlain else {
            let condition = ItemQuery.Condition.function { [columns] row in
                columns.value(row, field)?.referredIDs.contains { targets[$0] != nil } ?? false
            }
            return try query().filter(condition).rows()
        }
        _ = columns.createIndex(field, lazily: true)
        let values = targets.keys.filter {
            switch $0 {
            case .string: isText
            case .integer: !isText
            default: false
            }
        }
        let isIn = PredicateNode.comparing(PredicateKeyPath(declaration.name), .in, .array(values))
        return try query().filter(.predicate(FormatPredicate(isIn))).rows()
    }
}

/// What the removal of items brings about.
struct RemovalConsequences {
    /// The items, and those that are removed with them.
    var removed: Set<UInt32> = []
    /// The latter, in the order in which they were found.
    var further: [UInt32] = []
    /// The references that other items lose.
    var losses: [(row: UInt32, field: ItemField, declaration: FieldDeclaration)] = []

    var isEmpty: Bool { further.isEmpty && losses.isEmpty }
}
