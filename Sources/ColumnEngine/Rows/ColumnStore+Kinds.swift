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
    package static let idName = "id"

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

    /// The id in a key, behind the kind; nil for a key of another form.
    package static func id(_ kind: String, inKey key: String) -> String? {
        let (key, kind) = (key.utf8, kind.utf8)
        guard key.count > kind.count, key.starts(with: kind), key.dropFirst(kind.count).first == UInt8(ascii: ":")
        else {
            return nil
        }
        return String(decoding: key.dropFirst(kind.count + 1), as: UTF8.self)
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

    /// The number whose text is an id; nil for the text of none.
    package static func number(of id: String) -> PropertyListValue? {
        guard let number = Int128(id), String(number) == id else { return nil }
        return Int64(exactly: number).map { .integer($0) } ?? .wideInteger(number)
    }

    /// The values that are an id: its text, and the number whose text it is.
    package static func values(of id: String) -> [PropertyListValue] {
        [.string(id)] + (number(of: id).map { [$0] } ?? [])
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
    package func kind(_ row: UInt32) -> String? { declared.kindField.flatMap { text(row, $0) } }

    /// Whether an item is of a kind, or of none.
    package func isOf(_ kind: String, _ row: UInt32) -> Bool {
        declared.kindField.flatMap { isText(kind, row, $0) } ?? true
    }

    private func text(_ row: UInt32, _ field: ItemField) -> String? {
        let cell = table.cell(row, field)
        return cell.isText ? CellHeap.string(cell) : nil
    }

    /// Whether a field's text is a given one; nil if it has no text.
    private func isText(_ text: String, _ row: UInt32, _ field: ItemField) -> Bool? {
        let cell = table.cell(row, field)
        return cell.isText ? cell.withText(text.hasBytes) : nil
    }

    /// The kind in an item's field, also where none is declared, as in a collection whose server knows no declarations.
    private func writtenKind(_ row: UInt32) -> String? {
        writtenKindField.flatMap { text(row, $0) }
    }

    private var writtenKindField: ItemField? { declared.kindField ?? fields.existing(ItemKind.fieldName) }

    // MARK: Identity

    /// The field with the ids within the kinds; nil while no item has one.
    package var idField: ItemField? { declared.idField ?? fields.existing(ItemKind.idName) }

    /// The id that an item has within its kind.
    ///
    /// It is in the key, behind the kind. An item with a UUID as its key has the id in its field, if it has one there:
    /// it is of an earlier version, or of a script that knew no kinds. Every other key is the id itself.
    ///
    /// - Parameters:
    ///   - row: the item.
    ///   - field: the field with ids; nil for items that have them in their keys alone.
    /// - Returns: the id; the key of an item without one.
    package func id(_ row: UInt32, in field: ItemField?) -> String {
        let key = keyString(row)
        let stored = field.flatMap { value(row, $0) }.flatMap(ItemKind.text(of:))
        if !hasTextKey(row) || stored == key { return stored ?? key }
        guard let kind = writtenKind(row) else {
            // The kind in the key may be one that the item lacks.
            if let stored, key.utf8.reversed().starts(with: ":\(stored)".utf8.reversed()) { return stored }
            return key
        }
        return ItemKind.id(kind, inKey: key) ?? key
    }

    /// Whether an id is an item's, within its kind. A UUID that is its key is one, whatever it has in its field.
    ///
    /// With the kind and the key by which the item was found, mostly the kind and the id, no texts are made for the answer.
    private func isID(
        _ id: String, of row: UInt32, in field: ItemField?, found: (kind: String, key: String)? = nil
    ) -> Bool {
        if let found, hasTextKey(row), found.key.utf8.count == found.kind.utf8.count + 1 + id.utf8.count,
            let kindField = writtenKindField, isText(found.kind, row, kindField) == true,
            field.flatMap({ isText(found.key, row, $0) }) != true
        {
            return true
        }
        return self.id(row, in: field) == id || !hasTextKey(row) && keyString(row) == id
    }

    /// The ids of an item within its kind.
    package func ids(_ row: UInt32) -> [String] {
        let id = id(row, in: idField)
        return hasTextKey(row) || keyString(row) == id ? [id] : [id, keyString(row)]
    }

    /// The item of a kind with an id. O(1).
    package func row(ofKind kind: String, id: String, in field: ItemField?) -> UInt32? {
        row(ofKind: kind, id, field) { _ in true }
    }

    /// The items of a kind with an id: one, unless an earlier version or a script gave it to several.
    package func rows(ofKind kind: String, id: String, in field: ItemField?) -> [UInt32] {
        var found: [UInt32] = []
        _ = row(ofKind: kind, id, field) { row in
            if !found.contains(row) { found.append(row) }
            return false
        }
        return found
    }

    private func row(
        ofKind kind: String, _ id: String, _ field: ItemField?, where isWanted: (UInt32) -> Bool
    ) -> UInt32? {
        func isFound(_ row: UInt32, by key: String? = nil) -> Bool {
            isOf(kind, row) && isID(id, of: row, in: field, found: key.map { (kind, $0) }) && isWanted(row)
        }
        for key in ItemKind.keys(kind, id) { if let row = row(ofKey: key), isFound(row, by: key) { return row } }
        guard let field else { return nil }
        let identity = identity(field)
        // Other hosts never make such items, so an empty index does not count as a read of the whole collection.
        if identity.isEmpty { return nil }
        var text = id
        let number = ItemKind.number(of: id).map { cell($0) }
        defer { if let number { discard(number) } }
        let row =
            text.withUTF8 { identity.holder(ofText: $0) { isFound($0) } }
            ?? number.flatMap { identity.holder(of: $0) { isFound($0) } }
        if let row { recordRead(row) }
        return row
    }

    private func identity(_ field: ItemField) -> UniqueIndex {
        if let known = declared.identities.first(where: { $0.field == field }) { return known }
        let index = UniqueIndex(self, field, ofUUIDs: true)
        declared.identify(by: index)
        return index
    }

    /// The key of a new item of a kind; nil for one that keeps the UUID that it has, since another item has its key.
    package func newKey(_ kind: String, _ id: String) -> String? {
        // The kind precedes a UUID, too, if it is that of another kind's item.
        [ItemKind.key(kind, id), "\(kind):\(id)"].first { row(ofKey: $0) == nil }
    }

    /// Refuses an id that an item of the kind has.
    package func checkNewID(_ kind: String, _ id: String, in field: ItemField?) throws(StoreError) {
        guard let other = row(ofKind: kind, id: id, in: field) else { return }
        recordRead(other)
        let key = keyString(other)
        throw StoreError(
            .duplicateKey(key),
            key == id || key == "\(kind):\(id)"
                ? "an item with the itemKey \(key) is in the store already"
                : "\(kind.withArticle) with the id \(id) is in the store already: its itemKey is \(key)")
    }

    /// Gives a new item with a kind and an id its key, unless it was given one.
    ///
    /// - Throws: `duplicateKey` for an id that an item of the kind has; `invalidValue` for one with another key, if that
    ///   is not a UUID.
    package func setKeyOfKind(_ row: UInt32) throws(StoreError) {
        guard let kind = kind(row), let field = declared.idField,
            let id = value(row, field).flatMap(ItemKind.text(of:))
        else { return }
        try checkNewID(kind, id, in: field)
        let isGiven = declared.draftsWithKey.contains(row)
        if isGiven, hasTextKey(row), !ItemKind.keys(kind, id).contains(keyString(row)) {
            throw .invalidValue(
                "itemKey",
                "the itemKey of \(kind.withArticle) with the id \(id) is \(ItemKind.key(kind, id)), not "
                    + keyString(row))
        }
        if isGiven { return }
        if let key = newKey(kind, id) { try ItemDraft(store: self, row: row).set(.string(key), forField: "itemKey") }
    }

    /// Refuses another kind or id for an item that has a kind: others find it by them.
    @inline(__always)
    package func checkIdentity(_ row: UInt32, _ field: ItemField) throws(StoreError) {
        guard let kindField = declared.kindField, field == kindField || field == declared.idField else { return }
        try checkIdentity(row, isKind: field == kindField)
    }

    private func checkIdentity(_ row: UInt32, isKind: Bool) throws(StoreError) {
        guard let kind = kind(row) else { return }
        let (name, key) = (isKind ? ItemKind.fieldName : ItemKind.idName, keyString(row))
        let stored = isKind ? nil : declared.idField.flatMap { value(row, $0) }.flatMap(ItemKind.text(of:))
        // A model may have another property that is called `id`.
        if isKind || stored.map({ ItemKind.keys(kind, $0).contains(key) }) ?? false {
            throw StoreError(
                .readOnlyField(field: name),
                "\(name) of the \(kind) \(key) is part of its itemKey, which it gets when it is created and keeps")
        }
        guard stored != nil, !hasTextKey(row),
            let reference = declared.references.first(where: { $0.declaration.references?.kind == kind })
        else { return }
        throw StoreError(
            .readOnlyField(field: name),
            "\(name) of the \(kind) \(key) is what \(reference.declaration.name) of other items refers to: it stays as it is"
        )
    }

    // MARK: References

    /// Whether fields are declared to refer to items.
    package var hasReferences: Bool { !declared.references.isEmpty }

    /// Whether values of a field may be arrays.
    package func holdsBoxes(_ field: ItemField) -> Bool { kindSet(field).contains(.box) }

    /// The fields that refer to items.
    package var references: [(field: ItemField, declaration: FieldDeclaration)] {
        declared.references.map { ($0.field, $0.declaration) }
    }

    /// The kind that a field refers to; nil for other fields.
    package func referencedKind(_ field: ItemField) -> String? { rule(field)?.declaration.references?.kind }

    /// The item that a value of a field refers to.
    package func target(_ value: PropertyListValue, _ declaration: FieldDeclaration) -> UInt32? {
        guard let kind = declaration.references?.kind, let id = ItemKind.text(of: value) else { return nil }
        return row(ofKind: kind, id: id, in: idField)
    }

    /// Refuses a value that refers to no item.
    ///
    /// - Parameters:
    ///   - row: the item that gets it, which it may refer to.
    ///   - field: the field.
    ///   - value: the value.
    ///   - old: the value before, whose ids were checked.
    /// - Throws: `invalidValue` naming the field.
    package func checkReference(
        _ row: UInt32, _ field: ItemField, _ value: @autoclosure () -> PropertyListValue?,
        replacing old: @autoclosure () -> PropertyListValue?
    ) throws(StoreError) {
        if declared.references.isEmpty { return }
        guard let rule = rule(field), let kind = rule.declaration.references?.kind, let value = value() else { return }
        let known = Set(old()?.referredIDs ?? [])
        let lost = value.referredIDs.first { id in
            if known.contains(id) || target(id, rule.declaration) != nil { return false }
            return !(ItemKind.text(of: id).map { isOf(kind, row) && isID($0, of: row, in: idField) } ?? false)
        }
        if let lost { throw rule.declaration.dangling(lost) }
    }

    /// Whether a value has an id that no item has.
    package func isDangling(_ value: PropertyListValue, _ declaration: FieldDeclaration) -> Bool {
        declaration.references != nil && value.referredIDs.contains { target($0, declaration) == nil }
    }

    /// The reference at a path's start, if the path leads on into the item that it refers to.
    func followedReference(of path: PredicateKeyPath) -> ItemField? {
        guard !declared.references.isEmpty, path.rest.contains(where: { !$0.hasPrefix("@") }),
            let field = fields.existing(path.field), referencedKind(field) != nil
        else { return nil }
        return field
    }

    /// The item that a value of a field refers to; nil for a field that refers to none.
    private func target(_ name: String) -> ((PropertyListValue) -> UInt32?)? {
        guard !declared.references.isEmpty, let field = fields.existing(name),
            let declaration = rule(field)?.declaration, declaration.references != nil
        else { return nil }
        _ = materialise(field)
        return { [self] in target($0, declaration) }
    }

    /// Compiles conditions and expressions over the items.
    var compiler: PredicateCompiler<UInt32> {
        PredicateCompiler(accessors: accessor, target: target, hasDays: hasDays)
    }
}

extension PropertyListValue {
    /// The ids in a value of a field that refers to items.
    package var referredIDs: [PropertyListValue] { if case .array(let ids) = self { ids } else { [self] } }
}

extension FieldDeclaration {
    /// The error of a reference to an item that is not there.
    func dangling(_ id: PropertyListValue) -> StoreError {
        .invalidValue(
            name,
            "\(name) refers to \((references?.kind ?? "item").withArticle), and there is none with the id "
                + "\(FieldValidation.describe(id)): create it first")
    }
}
