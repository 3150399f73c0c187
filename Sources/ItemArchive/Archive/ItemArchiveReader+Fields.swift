import ColumnEngine
import KeyedArchive
import PropertyList

// The values of an item's fields, in any form in which an application archived them.
extension ItemArchiveReader {
    @inline(__always)
    func isNull(_ number: Int) -> Bool { number == archive.table.nilNumber }

    mutating func text(_ reference: Int, _ field: ItemField, _ row: UInt32) throws(PropertyListError) -> Cell {
        let number = try archive.resolve(reference)
        if isNull(number) { return absent(field) }
        if let bytes = try reader.asciiString(at: number) { return cell(number, bytes) }
        if let found = try archive.table.text(at: number) {
            // Half of a surrogate pair is carried as it is.
            guard case .string(let text) = found else { return try carried(number, reference, field, row) }
            if try reader.kind(of: number) != .string { hasOtherForms = true }
            return store.text(text)
        }
        return try carried(number, reference, field, row)
    }

    /// The cell of a field that is nil.
    private mutating func absent(_ field: ItemField) -> Cell {
        if field != .serialNumber {
            hasOtherForms = true
            nilFields.insert(field)
        }
        return .absent
    }

    /// A value of another kind than its field's, as it is.
    private mutating func carried(
        _ number: Int, _ reference: Int, _ field: ItemField, _ row: UInt32
    ) throws(PropertyListError) -> Cell {
        if try reader.kind(of: number) == .null { return absent(field) }
        hasOtherForms = true
        let name = store.name(of: field)
        let uid = schema.form == .keyedArchive ? try reader.uid(at: reference) : nil
        if let decimal = try archive.decimal(at: number) {
            if !decimal.isExactAsValue { longDecimals[field, default: Sample()].note(row, decimal.description) }
            if let uid { foreignOfItem.append((name, uid)) }
            return store.cell(decimal.propertyListValue)
        }
        if let value = try archive.value(at: number), let checked = try? FieldValidation.checked(value, custom: name) {
            return store.cell(checked)
        }
        unheld[field, default: Sample()].note(row, archive.describe(number))
        if let uid { foreignOfItem.append((name, uid)) } else { leaveOut("\(name) of an item cannot be a field") }
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

    mutating func integer(_ reference: Int, _ row: UInt32) throws(PropertyListError) -> Cell {
        let number = try archive.resolve(reference)
        if isNull(number) { return absent(.valueInDollars) }
        let plain = try reader.number(at: number)
        var found = plain
        if found == nil { found = try archive.table.number(at: number) }
        guard let value = found else { return try carried(number, reference, .valueInDollars, row) }
        if schema.form == .keyedArchive {
            if number != reference { schema.valueIsObject = true }
            if valueForms.insert(number != reference).inserted, valueForms.count > 1 { hasOtherForms = true }
        }
        if case .integer(let integer)? = plain { return .integer(integer) }
        hasOtherForms = true
        return store.cell(PropertyListValue(value))
    }

    mutating func date(
        _ index: Int, _ item: BinaryPropertyListContainer, _ row: UInt32
    ) throws(PropertyListError) -> Cell {
        if let date = try archive.date(at: index, in: item), date.secondsSinceReferenceDate.isFinite {
            return .date(date.secondsSinceReferenceDate)
        }
        let number = try archive.object(at: index, in: item)
        if isNull(number) { return absent(.dateCreated) }
        return try carried(number, reader.valueReference(index, in: item), .dateCreated, row)
    }

    mutating func readKey(_ reference: Int, _ draft: ItemDraft) throws(PropertyListError) -> Bool {
        let number = try archive.resolve(reference)
        if let bytes = try reader.asciiString(at: number),
            let packed = PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
        {
            store.setKey(draft.row, packed)
            return true
        }
        if isNull(number) { return false }
        guard let text = try archive.table.string(at: number), !text.isEmpty else {
            if try reader.kind(of: number) != .null { leaveOut("the itemKey of an item is not a text") }
            return false
        }
        if try reader.kind(of: number) != .string { hasOtherForms = true }
        store.setKey(draft.row, text: store.text(text))
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
        if number == reference, schema.form == .keyedArchive { schema.inlineFields.insert(ExactText(name)) }
        // A list shared by several items.
        if case .array = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if case .dictionary = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if archive.metOtherForm { hasOtherForms = true }
        store.setCell(draft.row, field, store.cell(checked))
    }
}
