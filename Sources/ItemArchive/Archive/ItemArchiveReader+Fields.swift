import ColumnEngine
import KeyedArchive
import PropertyList

// The values of an item's fields, in any form in which an application archived them.
extension ItemArchiveReader {
    @inline(__always)
    func isNull(_ number: Int) -> Bool { number == archive.table.nilNumber }

    mutating func text(_ reference: Int, _ field: String) throws(PropertyListError) -> Cell {
        let number = try archive.resolve(reference)
        if isNull(number) { return .absent }
        if let bytes = try reader.asciiString(at: number) { return cell(number, bytes) }
        if let text = try archive.table.string(at: number) {
            if try reader.kind(of: number) != .string { hasOtherForms = true }
            return store.text(text)
        }
        if try reader.kind(of: number) != .null { leaveOut("the \(field) of an item is no text") }
        return .absent
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

    mutating func integer(_ reference: Int) throws(PropertyListError) -> Int64 {
        let number = try archive.resolve(reference)
        if isNull(number) { return 0 }
        if schema.form == .keyedArchive {
            if number != reference { schema.valueIsObject = true }
            if valueForms.insert(number != reference).inserted, valueForms.count > 1 { hasOtherForms = true }
        }
        switch try reader.number(at: number) {
        case .integer(let value)?: return value
        case .boolean(let value)?: return value ? 1 : 0
        case .real(let value)?:
            if let integer = Int64(exactly: value) { return integer }
            leaveOut("valueInDollars of an item, \(value), is no integer and was rounded")
            return Int64(exactly: value.rounded(.toNearestOrEven)) ?? 0
        case .single(let value)?:
            if let integer = Int64(exactly: value) { return integer }
            leaveOut("valueInDollars of an item, \(value), is no integer and was rounded")
            return Int64(exactly: value.rounded(.toNearestOrEven)) ?? 0
        case .wideInteger?, nil:
            leaveOut("valueInDollars of an item is no integer of 64 bits")
            return 0
        }
    }

    mutating func date(
        _ index: Int, _ item: BinaryPropertyListContainer
    ) throws(PropertyListError) -> Double {
        if let date = try archive.date(at: index, in: item) { return date.secondsSinceReferenceDate }
        if isNull(try archive.object(at: index, in: item)) {
            hasOtherForms = true
            return 0
        }
        leaveOut("dateCreated of an item is no date")
        return 0
    }

    mutating func readKey(_ reference: Int, _ draft: ItemDraft) throws(PropertyListError) -> Bool {
        let number = try archive.resolve(reference)
        if let bytes = try reader.asciiString(at: number),
            let packed = PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
        {
            store.setKey(draft.row, packed)
            return true
        }
        let cell = try text(reference, "itemKey")
        guard cell.isText, cell.withText({ $0.count > 0 }) else { return false }
        store.setKey(draft.row, text: cell)
        return true
    }

    mutating func readCustom(
        _ reference: Int, _ draft: ItemDraft, _ field: ItemField, _ name: String
    ) throws(PropertyListError) {
        let number = try archive.resolve(reference)
        if isNull(number) {
            hasOtherForms = true
            return
        }
        if let bytes = try reader.asciiString(at: number) {
            return store.setCell(draft.row, field, cell(number, bytes))
        }
        guard let value = try archive.value(at: number),
            let checked = try? FieldValidation.checked(value, custom: name)
        else {
            if schema.form == .keyedArchive, let uid = try reader.uid(at: reference) {
                return foreignOfItem.append((name, uid))
            }
            let known = archive.describe(number)
            return leaveOut("\(name) of an item is \(known), which a field cannot hold")
        }
        if number == reference, schema.form == .keyedArchive { schema.inlineFields.insert(name) }
        // A list shared by several items.
        if case .array = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if case .dictionary = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if archive.metOtherForm { hasOtherForms = true }
        store.setCell(draft.row, field, store.cell(checked))
    }
}
