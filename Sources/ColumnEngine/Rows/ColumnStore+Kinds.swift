import PredicateFormat
package import PropertyList

/// The kinds of items, and the keys that they give.
///
/// An item of a kind has it in the field `itemKind`, which is declared once a store has kinds. Its key is made of the
/// kind and of an id that no other item of the kind has: `Film:7`. An id that is a UUID is the key by itself.
package enum ItemKind {
    /// The field with an item's kind.
    package static let fieldName = "itemKind"
    /// The field from which a new item without a key gets the id in it.
    static let idName = "id"

    /// The declaration of the field.
    package static var declaration: FieldDeclaration {
        var declaration = FieldDeclaration(fieldName, .string)
        declaration.summary = "the kind of the item"
        return declaration
    }

    /// The key of a new item of a kind.
    package static func key(_ kind: String, _ id: String) -> String { isUUID(id) ? id : "\(kind):\(id)" }

    /// The keys that an item of a kind may have: its own; that of an item whose UUID one of another kind had already;
    /// that of an item from before there were kinds.
    package static func keys(_ kind: String, _ id: String) -> [String] {
        isUUID(id) ? [id, "\(kind):\(id)"] : ["\(kind):\(id)", id]
    }

    /// The id in a key.
    package static func id(_ kind: String, inKey key: String) -> String {
        let prefix = "\(kind):".utf8
        return key.utf8.starts(with: prefix) ? String(decoding: key.utf8.dropFirst(prefix.count), as: UTF8.self) : key
    }

    /// The text of an id; nil for a value that is none.
    package static func text(of id: PropertyListValue) -> String? {
        switch id {
        case .string(let text): text
        case .integer(let number): String(number)
        case .wideInteger(let number): String(number)
        default: nil
        }
    }

    private static func isUUID(_ id: String) -> Bool {
        var id = id
        return id.withUTF8 { PackedKey(uuid: $0) } != nil
    }
}

extension ColumnStore {
    // MARK: Kinds

    /// Whether items have kinds.
    package var hasKinds: Bool { declared.kindField != nil }

    /// An item's kind; nil if it has none.
    package func kind(_ row: UInt32) -> String? {
        guard let field = declared.kindField else { return nil }
        let cell = table.cell(row, field)
        return cell.isText ? CellHeap.string(cell) : nil
    }

    /// Whether an item is of a kind, or of none.
    package func isOf(_ kind: String, _ row: UInt32) -> Bool { self.kind(row).map { $0 == kind } ?? true }

    /// The item of a kind with an id. O(1).
    package func row(ofKind kind: String, id: String) -> UInt32? {
        for var key in ItemKind.keys(kind, id) {
            if let row = key.withUTF8({ row(forKey: $0) }), isOf(kind, row) { return row }
        }
        return nil
    }

    /// The id that an item has within its kind.
    package func id(_ row: UInt32) -> String {
        let key = keyString(row)
        return kind(row).map { ItemKind.id($0, inKey: key) } ?? key
    }

    /// Gives a new item with a kind and an id its key, if no model has given it one.
    ///
    /// - Throws: `invalidValue` for one that has another key.
    package func setKeyOfKind(_ row: UInt32) throws(StoreError) {
        guard let kind = kind(row), let field = existingField(named: ItemKind.idName),
            let id = value(row, field).flatMap(ItemKind.text(of:))
        else { return }
        let (key, given) = (ItemKind.key(kind, id), keyString(row))
        if ItemKind.keys(kind, id).contains(given) { return }
        if hasTextKey(row) {
            throw StoreError(
                .invalidValue(field: "itemKey"),
                "the itemKey of \(kind.withArticle) with the id \(id) is \(key), not \(given)")
        }
        try ItemDraft(store: self, row: row).set(.string(key), forField: "itemKey")
    }

    /// Refuses another kind or id for an item that has a kind: they are in its key.
    @inline(__always)
    package func checkIdentity(_ row: UInt32, _ field: ItemField) throws(StoreError) {
        guard let kindField = declared.kindField, field == kindField || field == declared.idField else { return }
        guard let kind = kind(row), field == kindField || isKey(value(row, field), ofKind: kind, row) else { return }
        let name = name(of: field)
        throw StoreError(
            .readOnlyField(field: name),
            "\(name) of the \(kind) \(keyString(row)) is part of its itemKey, which it gets when it is created and keeps"
        )
    }

    /// Whether a value is the id in an item's key: a model may have another property that is called `id`.
    private func isKey(_ value: PropertyListValue?, ofKind kind: String, _ row: UInt32) -> Bool {
        value.flatMap(ItemKind.text(of:)).map { ItemKind.keys(kind, $0).contains(keyString(row)) } ?? false
    }

    // MARK: References

    /// Whether fields are declared to refer to items.
    package var hasReferences: Bool { !declared.references.isEmpty }

    /// Whether values of a field may be arrays.
    package func holdsBoxes(_ field: ItemField) -> Bool { kindSet(field).contains(.box) }

    /// The fields that refer to items of a kind, or to those of any if nil.
    package func references(to kind: String?) -> [(field: ItemField, declaration: FieldDeclaration)] {
        declared.references.filter { kind == nil || $0.declaration.references == kind }.map {
            ($0.field, $0.declaration)
        }
    }

    /// The kind that a field refers to; nil for other fields.
    package func referencedKind(_ field: ItemField) -> String? { rule(field)?.declaration.references }

    /// The item that a value of a field refers to.
    package func target(_ value: PropertyListValue, _ declaration: FieldDeclaration) -> UInt32? {
        guard let kind = declaration.references, let id = ItemKind.text(of: value) else { return nil }
        return row(ofKind: kind, id: id)
    }

    /// Refuses a value that refers to no item.
    ///
    /// - Parameters:
    ///   - row: the item that gets it, which it may refer to.
    ///   - field: the field.
    ///   - value: the value.
    /// - Throws: `invalidValue` naming the field.
    package func checkReference(
        _ row: UInt32, _ field: ItemField, _ value: @autoclosure () -> PropertyListValue?
    ) throws(StoreError) {
        if declared.references.isEmpty { return }
        guard let rule = rule(field), let kind = rule.declaration.references, let value = value() else { return }
        let own = keyString(row)
        guard let lost = dangling(value, rule.declaration, own: own) else { return }
        throw StoreError(
            .invalidValue(field: rule.declaration.name),
            "\(rule.declaration.name) refers to \(kind.withArticle), and there is none with the id "
                + "\(FieldValidation.describe(lost)): create it first")
    }

    /// The first id in a value that no item has; nil if each has one.
    package func dangling(
        _ value: PropertyListValue, _ declaration: FieldDeclaration, own: String? = nil
    ) -> PropertyListValue? {
        guard let kind = declaration.references else { return nil }
        let ids = if case .array(let ids) = value { ids } else { [value] }
        return ids.first { id in
            if let own, let text = ItemKind.text(of: id), ItemKind.keys(kind, text).contains(own) { return false }
            return target(id, declaration) == nil
        }
    }

    /// The values at the end of a path that leads to other items: `director.name`. Nil for other paths.
    func related(_ path: PredicateKeyPath) -> ((UInt32) -> PropertyListValue?)? {
        guard !declared.references.isEmpty, let first = path.rest.first, !first.hasPrefix("@"),
            let field = fields.existing(path.field), let declaration = rule(field)?.declaration,
            declaration.references != nil
        else { return nil }
        _ = materialise(field)
        let next = PredicateKeyPath(first, Array(path.rest.dropFirst()))
        let read = compiler.value(.keyPath(next))
        return { [self] row in
            guard let value = value(row, field) else { return nil }
            if case .array(let ids) = value {
                return .array(ids.compactMap { target($0, declaration).flatMap(read) })
            }
            return target(value, declaration).flatMap(read)
        }
    }

    /// Compiles conditions and expressions over the items.
    var compiler: PredicateCompiler<UInt32> { PredicateCompiler(accessors: accessor, related: related) }
}
