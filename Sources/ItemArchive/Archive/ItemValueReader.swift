import ColumnEngine
import KeyedArchive
import PropertyList

/// Reads the values of an item's fields, in any form in which an application archived them.
///
/// Works in place on the bytes; a field of every item needs no string and no allocation.
struct ItemValueReader {
    var archive: ArchiveObjectReader
    /// The objects in the current item's fields that the store cannot hold.
    private(set) var foreign: [(name: String, uid: UInt32)] = []
    private let store: ColumnStore
    private let reader: BinaryPropertyListReader
    /// The lists that some field had.
    private var lists: Set<Int> = []
    /// Long texts, by number: an archive of a few kilobytes may share one among a hundred thousand items.
    private var longTexts: [Int: Cell] = [:]
    private static let longText = 256

    init(_ archive: ArchiveObjectReader, _ reader: BinaryPropertyListReader, _ store: ColumnStore) {
        (self.archive, self.reader, self.store) = (archive, reader, store)
    }

    /// Begins an item.
    mutating func begin() { foreign.removeAll(keepingCapacity: true) }

    @inline(__always)
    func isNull(_ number: Int) -> Bool { number == archive.table.nilNumber }

    mutating func text(
        _ reference: Int, _ field: ItemField, _ row: UInt32, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> Cell {
        let number = try archive.resolve(reference)
        if isNull(number) { return report.absent(field) }
        if let bytes = try reader.asciiString(at: number) { return cell(number, bytes) }
        // Half of a surrogate pair is carried as it is.
        if case .string(let text)? = try archive.table.text(at: number) {
            if try reader.kind(of: number) != .string { report.hasOtherForms = true }
            return store.text(text)
        }
        return try carried(number, reference, field, row, &report)
    }

    /// A value of another kind than its field's, as it is.
    private mutating func carried(
        _ number: Int, _ reference: Int, _ field: ItemField, _ row: UInt32, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> Cell {
        if try reader.kind(of: number) == .null { return report.absent(field) }
        report.hasOtherForms = true
        let name = store.name(of: field)
        let uid = report.schema.form == .keyedArchive ? try reader.uid(at: reference) : nil
        if let decimal = try archive.decimal(at: number) {
            if !decimal.isExactAsValue { report.recordLongDecimal(field, row, decimal.description) }
            if let uid { foreign.append((name, uid)) }
            return store.cell(decimal.propertyListValue)
        }
        if let value = try value(number, reference, name, row, &report) { return store.cell(value) }
        let known = archive.describe(number)
        report.recordUnheld(field, row, known)
        if let uid { foreign.append((name, uid)) } else { report.leaveOut(.object(ExactText(name), known), row) }
        return .absent
    }

    /// A value that a field can hold; nil for another object.
    private mutating func value(
        _ number: Int, _ reference: Int, _ name: String, _ row: UInt32, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> PropertyListValue? {
        guard let value = try archive.value(at: number, isInPlace: number == reference),
            let checked = try? FieldValidation.checked(value, custom: name)
        else { return nil }
        if archive.equalKeys > 0 { report.leaveOut(.equalKey(ExactText(name)), row, count: archive.equalKeys) }
        return checked
    }

    /// The cell of a text; a long text that several items share has one cell.
    @inline(__always)
    private mutating func cell(_ number: Int, _ bytes: UnsafeRawBufferPointer) -> Cell {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        guard bytes.count > Self.longText else { return store.text(text) }
        if let known = longTexts[number] { return known }
        let cell = store.text(text)
        longTexts[number] = cell
        return cell
    }

    mutating func integer(
        _ reference: Int, _ field: ItemField, _ row: UInt32, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> Cell {
        let number = try archive.resolve(reference)
        if isNull(number) { return report.absent(field) }
        let plain = try reader.number(at: number)
        var found = plain
        if found == nil { found = try archive.table.number(at: number) }
        guard let value = found else { return try carried(number, reference, field, row, &report) }
        if report.schema.form == .keyedArchive { report.recordInteger(field, isObject: number != reference) }
        if case .integer(let integer)? = plain { return .integer(integer) }
        report.hasOtherForms = true
        return store.cell(PropertyListValue(value))
    }

    mutating func date(
        _ index: Int, _ item: BinaryPropertyListContainer, _ field: ItemField, _ row: UInt32,
        _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> Cell {
        if let date = try archive.date(at: index, in: item), date.secondsSinceReferenceDate.isFinite {
            return .date(date.secondsSinceReferenceDate)
        }
        let number = try archive.object(at: index, in: item)
        if isNull(number) { return report.absent(field) }
        return try carried(number, reader.valueReference(index, in: item), field, row, &report)
    }

    /// Reads an item's key.
    ///
    /// - Returns: whether it has one.
    mutating func readKey(
        _ reference: Int, _ draft: ItemDraft, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) -> Bool {
        let number = try archive.resolve(reference)
        if let bytes = try reader.asciiString(at: number),
            let packed = PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
        {
            store.setKey(draft.row, packed)
            return true
        }
        if isNull(number) { return false }
        guard let text = try archive.table.string(at: number), !text.isEmpty else {
            if try reader.kind(of: number) != .null {
                report.leaveOut(.other("the itemKey of an item is not a text"))
            }
            return false
        }
        if try reader.kind(of: number) != .string { report.hasOtherForms = true }
        store.setKey(draft.row, text: store.text(text))
        return true
    }

    /// Reads a custom field.
    mutating func readCustom(
        _ reference: Int, _ draft: ItemDraft, _ field: ItemField, _ name: String, _ report: inout ItemArchiveReport
    ) throws(PropertyListError) {
        let number = try archive.resolve(reference)
        if isNull(number) {
            report.hasOtherForms = true
            return
        }
        if let bytes = try reader.asciiString(at: number) {
            return store.setCell(draft.row, field, cell(number, bytes))
        }
        guard let value = try value(number, reference, name, draft.row, &report) else {
            if report.schema.form == .keyedArchive, let uid = try reader.uid(at: reference) {
                return foreign.append((name, uid))
            }
            return report.leaveOut(.object(ExactText(name), archive.describe(number)), draft.row)
        }
        if number == reference, report.schema.form == .keyedArchive {
            report.schema.inlineFields.insert(ExactText(name))
        }
        // A list shared by several items.
        if case .array = value, !lists.insert(number).inserted { report.hasOtherForms = true }
        if case .dictionary = value, !lists.insert(number).inserted { report.hasOtherForms = true }
        if archive.metOtherForm { report.hasOtherForms = true }
        store.setCell(draft.row, field, store.cell(value))
    }
}

/// The meaning of an item's keys; items of one class usually share them.
struct ItemPlan {
    enum Role {
        case className, field(ItemField, FieldKind), itemKey, custom(ItemField, String)

        /// The field, if it is one of every item's.
        var field: ItemField? { if case .field(let field, _) = self { field } else { nil } }
    }
    private(set) var shape: ArchiveShape?
    private(set) var roles: [Role] = []
    /// The entry with the class.
    private(set) var classIndex: Int?
    /// The entry of the image's key in an item that also has a key of its own.
    private(set) var imageKey: Int?
    /// The fields of every item for which there is no key.
    private(set) var missing: [ItemField] = []

    init() {}

    /// - Parameters:
    ///   - shape: the items' keys.
    ///   - report: gets the first item's keys as those of the schema, and the keys that cannot be fields.
    ///   - store: gets the custom fields.
    init(_ shape: ArchiveShape, _ report: inout ItemArchiveReport, _ store: ColumnStore) {
        self.shape = shape
        let names = shape.storedKeys
        func first(_ aliases: [String]) -> String? { aliases.first { alias in names.contains { $0 == alias } } }
        let schema = store.schema
        let found = schema.fields.map { first($0.archiveNames) }
        let key = first(schema.keyNames)
        let required = schema.kinds.indices.filter { !schema.kinds[$0].isOptional }
        if found.first.map({ $0 != nil }) ?? true,
            key != nil || required.contains(where: { $0 > 0 && found[$0] != nil })
        {
            report.namesFields = true
        }
        if found.contains(where: { $0 == nil }) { report.hasOtherForms = true }
        missing = required.filter { found[$0] == nil }.map { ItemField(rawValue: UInt32($0)) }
        report.recordMissing(missing)
        if !report.hasSchema {
            for (number, name) in (found + [key]).enumerated() {
                if let name { report.schema.keys[number] = name }
            }
        }
        let isKeyed = report.schema.form == .keyedArchive
        if !isKeyed { report.hasSchema = true }
        for (index, text) in names.enumerated() {
            if text == schema.imageKeyName, key == schema.keyNames.first { imageKey = index }
            switch text {
            case "$class" where isKeyed:
                classIndex = index
                roles.append(.className)
            case _ where key == text: roles.append(.itemKey)
            default:
                if let number = found.firstIndex(where: { $0 == text }) {
                    roles.append(.field(ItemField(rawValue: UInt32(number)), schema.kinds[number].kind))
                    continue
                }
                // An archiver writes a key that begins with $ as one that begins with $$.
                let key = isKeyed ? ArchiveKey.given(text) : text
                if (try? FieldValidation.checkStoredName(key)) != nil {
                    let name = report.schema.field(ofArchivedKey: key)
                    roles.append(.custom(store.field(named: name), name))
                } else {
                    roles.append(.className)
                    report.leaveOut(.other("the key \(text) of an item cannot be a field"))
                }
            }
        }
    }
}
