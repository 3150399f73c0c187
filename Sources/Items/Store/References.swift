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
            let value = try item.value(for: field), columns.dangling(value, declaration) == nil
        else { return nil }
        guard case .array(let ids) = value else {
            return columns.target(value, declaration).map { .one(self.item(row: $0)) }
        }
        return .many(ids.compactMap { columns.target($0, declaration).map(self.item(row:)) })
    }

    /// The value that refers to an item, for a field declared to refer to items of its kind.
    ///
    /// - Throws: `invalidValue` for an item of another kind, and a field that refers to none; `itemRemoved`.
    package func reference(to item: Item, inField name: String) throws(StoreError) -> PropertyListValue {
        let row = try row(item.reference)
        let declaration = columns.existingField(named: name).flatMap(columns.declaration(of:))
        guard let declaration, let kind = declaration.references else {
            throw StoreError(
                .invalidValue(field: name),
                "\(name) refers to no items: declare its references, the kind of those that it refers to")
        }
        guard columns.kind(row) == kind else {
            let own = columns.kind(row).map { "is \($0.withArticle)" } ?? "has no kind"
            throw StoreError(
                .invalidValue(field: name), "\(name) refers to \(kind.withArticle), and \(columns.label(row)) \(own)")
        }
        let id = columns.id(row)
        // As the item itself has it, and as others refer to it.
        if declaration.kind == .integer { return Int64(id).map { .integer($0) } ?? .string(id) }
        let own = columns.existingField(named: "id").flatMap { columns.value(row, $0) }
        return own.flatMap { ItemKind.text(of: $0) == id ? $0 : nil } ?? .string(id)
    }

    // MARK: Removing

    /// Removes an item, and does with those that refer to it what is declared.
    ///
    /// - Throws: `referenced`; as ``removeItem(_:)``. Nothing is then changed.
    func removeWithRules(row: UInt32) throws(StoreError) {
        let removal = try removal(of: row)
        if removal.rows.count == 1, removal.losses.isEmpty { return try takeOut(row: row) }
        openSavepoint()
        do throws(StoreError) {
            for loss in removal.losses where columns.isLive(loss.row) { try lose(loss) }
            // Those that refer to others first.
            for row in removal.rows.reversed() where columns.isLive(row) { try takeOut(row: row) }
        } catch {
            rollBackSavepoint()
            throw error
        }
        closeSavepoint()
    }

    private struct Removal {
        /// The item, and those removed with it, in the order in which they were found.
        var rows: [UInt32]
        /// The references that other items lose.
        var losses: [Loss] = []
    }

    private struct Loss {
        let row: UInt32
        let field: ItemField
        let ids: [PropertyListValue]
    }

    /// What the removal of an item changes. Found without recursion: a chain of items may be long.
    private func removal(of row: UInt32) throws(StoreError) -> Removal {
        var removal = Removal(rows: [row])
        var seen: Set<UInt32> = [row]
        var denials: [(row: UInt32, field: String, target: UInt32)] = []
        var next = 0
        while next < removal.rows.count {
            let target = removal.rows[next]
            next += 1
            let ids = ids(of: target)
            for (field, declaration) in columns.references(to: columns.kind(target)) {
                for row in try rows(referringBy: declaration, to: ids) {
                    guard let value = columns.value(row, field), !Self.parts(of: value).isDisjoint(with: ids),
                        Self.parts(of: value).contains(where: { columns.target($0, declaration) == target })
                    else { continue }
                    switch declaration.onDelete {
                    case .cascade: if seen.insert(row).inserted { removal.rows.append(row) }
                    case .nullify: removal.losses.append(Loss(row: row, field: field, ids: ids))
                    case .deny: denials.append((row, declaration.name, target))
                    }
                }
            }
        }
        if let denial = denials.first(where: { !seen.contains($0.row) }) {
            let count = denials.count { !seen.contains($0.row) }
            throw StoreError(
                .referenced(field: denial.field),
                "\(columns.label(denial.target)) is the \(denial.field) of \(columns.label(denial.row))"
                    + (count > 1 ? " and of \((count - 1).counted("other item"))" : "") + ": it is not removed")
        }
        removal.losses.removeAll { seen.contains($0.row) }
        return removal
    }

    private func lose(_ loss: Loss) throws(StoreError) {
        guard case .array(let ids)? = columns.value(loss.row, loss.field) else {
            return try set(loss.row, loss.field, nil)
        }
        try set(loss.row, loss.field, .array(ids.filter { !loss.ids.contains($0) }))
    }

    /// The values that refer to an item.
    private func ids(of row: UInt32) -> [PropertyListValue] {
        let id = columns.id(row)
        guard let number = Int64(id), String(number) == id else { return [.string(id)] }
        return [.string(id), .integer(number)]
    }

    private static func parts(of value: PropertyListValue) -> Set<PropertyListValue> {
        if case .array(let ids) = value { Set(ids) } else { [value] }
    }

    /// The items that have one of some ids in a field: from its index, or by a scan of its column.
    private func rows(
        referringBy declaration: FieldDeclaration, to ids: [PropertyListValue]
    ) throws(StoreError) -> [UInt32] {
        let field = columns.field(named: declaration.name)
        // Of values of one kind the index finds those that are equal; others would be reported as left out.
        let isText = declaration.kind == .string
        guard isText || declaration.kind == .integer, !columns.holdsBoxes(field), columns.kindSet(field).isPlain else {
            let condition = ItemQuery.Condition.function { [columns] row in
                columns.value(row, field).map { !Self.parts(of: $0).isDisjoint(with: ids) } ?? false
            }
            return try query().filter(condition).rows()
        }
        _ = columns.createIndex(field, lazily: true)
        let path = FormatExpression.keyPath(PredicateKeyPath(declaration.name))
        var rows: [UInt32] = []
        for value in ids where isText == { if case .string = value { true } else { false } }() {
            let comparison = PredicateComparison(path, .equal, .constant(value))
            rows += try query().filter(.predicate(FormatPredicate(.comparison(comparison)))).rows()
        }
        return rows
    }
}
