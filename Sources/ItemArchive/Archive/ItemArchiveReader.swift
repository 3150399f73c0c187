package import ColumnEngine
import KeyedArchive
package import PropertyList
import Wording

/// Reads a store's items from an archive of any edition; `docs/journal.md` describes the mapping.
///
/// Works in place on the bytes; a domain field needs no string and no allocation.
package struct ItemArchiveReader {
    let loader: ItemLoader
    let store: ColumnStore
    let reader: BinaryPropertyListReader
    let identity: ArchiveIdentity
    var archive: ArchiveObjectReader
    var schema = ArchiveSchema()
    var notices: [String] = []
    /// The first contents of the archive that the store does not hold, in words.
    package private(set) var leftOut: [String] = []
    /// Whether the archive has content that the store does not hold.
    var leavesSomethingOut = false
    /// Whether the archive has values in other forms than the store writes: absent, mutable, shared.
    var hasOtherForms = false
    /// Whether to record `elements` and `keyed`.
    var notesElements = false
    /// The keys of the items in the archive's order; nil for an element that is not an item.
    var elements: [String?] = []
    /// The keys that the archive contains, in contrast to those made by this reader.
    var keyed: Set<ExactText> = []
    /// Whether some item has a name, and a key, a value or a date.
    var namesFields = false
    var valueForms: Set<Bool> = []
    /// The forms that an archive written from the fields does not have, in words.
    private(set) var mixedForms: [String] = []
    /// The fields of every item that are nil in some item, and those for which some item has no key.
    var nilFields: Set<ItemField> = []
    var missingFields: Set<ItemField> = []
    /// Values of these fields that the store cannot hold exactly, by field: decimals with more digits than a real, and
    /// objects of other classes.
    var longDecimals: [ItemField: Sample] = [:]
    var unheld: [ItemField: Sample] = [:]

    var lists: Set<Int> = []
    var count = 0
    /// The first failures to read, in words.
    package var damage: [String] = []
    /// The number of items that are lost or incomplete.
    var damagedItems = 0
    /// Whether the root is lost, and items are recognised only by their keys.
    var isSalvaging = false

    /// The meaning of an item's keys; items of one class usually share them.
    struct Plan {
        enum Role {
            case className, name, serialNumber, value, date, itemKey, custom(ItemField, String)

            /// The field, if it is one of every item's.
            var field: ItemField? {
                switch self {
                case .name: .name
                case .serialNumber: .serialNumber
                case .value: .valueInDollars
                case .date: .dateCreated
                case .className, .itemKey, .custom: nil
                }
            }
        }
        var shape: ArchiveShape?
        var roles: [Role] = []
        /// The entry with the class.
        var classIndex: Int?
        /// The entry `imageKey` of an item that also has an `itemKey`.
        var imageKey: Int?
        /// The fields of every item for which there is no key.
        var missing: [ItemField] = []
    }

    /// The number of some values, and the first three, with their items' rows.
    struct Sample {
        var count = 0
        var first: [(row: UInt32, text: String)] = []

        mutating func note(_ row: UInt32, _ text: @autoclosure () -> String) {
            count += 1
            if first.count < 3 { first.append((row, text())) }
        }
    }

    var plan = Plan()
    /// The objects in items' fields that the store cannot hold, and the arrays of items.
    var foreign: [ForeignFields.Field] = []
    var foreignOfItem: [(name: String, uid: UInt32)] = []
    /// The class of the items, if one was read.
    var itemClass: UInt32?
    private var itemArrays: [BinaryPropertyListContainer] = []
    private var singleItems: Set<UInt32> = []
    /// Long texts, by number: an archive of a few kilobytes may share one among a hundred thousand items.
    var longTexts: [Int: Cell] = [:]
    static let longText = 256
    /// An array in a field may nest as deep as the field.
    static let limits = ArchiveLimits(
        propertyList: PropertyListLimits(maximumDepth: FieldValidation.depthLimit + 1))
    var hasSchema = false
    /// Whether some item has both an `itemKey` and an `imageKey` that is a key.
    var hasTwoKeys = false

    package init(_ loader: ItemLoader, _ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity) {
        self.loader = loader
        store = loader.store
        self.reader = reader
        self.identity = identity
        archive = ArchiveObjectReader(ArchiveObjectTable(plain: reader), limits: Self.limits, isReadWhole: true)
    }

    /// The number of objects of an application's own classes in custom fields.
    package var foreignCount: Int {
        let domain = schema.fields.map(\.name)
        return foreign.count { !domain.contains($0.name) }
    }

    /// The archive itself, for saves that edit it where items have changed; nil if that is impossible.
    var original: OriginalArchive? {
        schema.form == .keyedArchive && !isSalvaging ? OriginalArchive(reader, identity) : nil
    }

    /// Reads all items.
    package mutating func read() throws(PropertyListError) {
        guard let root = try reader.container(at: reader.topObject) else {
            throw .corruptArchive("the root is neither an archive nor an array of items")
        }
        if root.kind == .array {
            schema.form = .propertyList
            loader.reserve(root.count)
            for index in 0..<root.count { readElement(reader.reference(index, in: root)) }
        } else {
            let table = try ArchiveObjectTable(reader, isForgiving: true)
            archive = ArchiveObjectReader(table, limits: Self.limits, isReadWhole: true)
            var tops: [(key: String, uid: UInt32)] = []
            for (key, value) in archive.table.top {
                if let uid = try reader.uid(at: value) { tops.append((key, uid)) }
            }
            for (key, uid) in tops {
                do throws(PropertyListError) {
                    try readTop(key, uid, isOnly: tops.count == 1)
                } catch {
                    note("\(key) of the archive cannot be read: \(error.message)")
                }
            }
            keepForeign()
        }
        settleForms()
        settleKeys()
    }

    /// Notes forms of which an archive that is written from the fields has only one.
    private mutating func settleForms() {
        schema.nilFields = nilFields.subtracting(missingFields)
        guard schema.form == .keyedArchive else { return }
        for field in nilFields.intersection(missingFields).sorted(by: { $0.rawValue < $1.rawValue }) {
            mixedForms.append(
                "\(store.name(of: field)) is nil in some items, and missing in others: a save leaves it out in all")
        }
        if valueForms.count > 1 {
            mixedForms.append(
                "valueInDollars is an object in some items, and inline in others: a save makes it an object in all")
        }
    }

    /// What the store does not hold exactly, in words.
    var remarks: [String] {
        list(longDecimals) { name, sample, items in
            "\(name) is a decimal with more digits than a number has in \(sample.count.counted("item")): \(items). "
                + "The archive keeps the digits; the nearest number is shown"
        }
            + unheldObjects.map { $0 + ". The archive keeps it; the field is nil" }
    }

    /// The fields of every item that have an object that they cannot hold, in words.
    package var unheldObjects: [String] {
        list(unheld) { name, sample, items in
            "\(name) is an object that a field cannot hold in \(sample.count.counted("item")): \(items)"
        }
    }

    private func list(
        _ samples: [ItemField: Sample], _ text: (String, Sample, String) -> String
    ) -> [String] {
        samples.sorted { $0.key.rawValue < $1.key.rawValue }.map { field, sample in
            let items = sample.first.map { "\($0.text) in \(store.label($0.row))" }.joined(separator: ", ")
            return text(store.name(of: field), sample, items + (sample.count > sample.first.count ? ", …" : ""))
        }
    }

    /// Reads the items of an archive whose root is lost, in the order of writing.
    mutating func readWithoutRoot() {
        guard let table = ArchiveObjectTable(withoutRoot: reader), let objects = table.objects else { return }
        archive = ArchiveObjectReader(table, limits: Self.limits, isReadWhole: true)
        isSalvaging = true
        for index in 1..<objects.count {
            let number = reader.reference(index, in: objects)
            if looksLikeItem(number) { readElement(number) }
        }
        keepForeign()
        settleKeys()
    }

    /// Whether an object has the keys of an item: an item key, and a name or a value.
    private func looksLikeItem(_ number: Int) -> Bool {
        guard let found = try? archive.table.dictionary(at: number), found.count > 2 else { return false }
        var names: NameSet = []
        for index in 0..<min(found.count, 64) {
            if let name = try? reader.string(at: reader.reference(index, in: found)) { names.insert(name) }
        }
        return ArchiveSchema.itemKeyKeys.contains(where: names.contains)
            && (ArchiveSchema.nameKeys + ArchiveSchema.valueKeys).contains(where: names.contains)
    }

    private mutating func settleKeys() {
        // Either items without an image have `itemKey` and no `imageKey`, as the writer makes them, or both keys are an
        // application's own, and `imageKey` is an ordinary field.
        if hasTwoKeys {
            schema.itemKeyKey = "itemKey"
            schema.keylessItems = []
        } else if !schema.keylessItems.isEmpty {
            schema.itemKeyKey = "imageKey"
        }
    }

    private mutating func readTop(_ key: String, _ uid: UInt32, isOnly: Bool) throws(PropertyListError) {
        let number = try archive.table.number(of: uid)
        guard let container = try archive.table.dictionary(at: number) else {
            if !(try reader.isString(number, "$null")) { leaveOut("\(key) of the archive is not an array of items") }
            return
        }
        let className = try archive.archivedClass(of: container)?.name
        if let elements = try archive.elements(of: container) {
            if isOnly && key == "root" {
                schema.isMutableArray = className == "NSMutableArray"
            } else {
                leaveOut("the items under \(key) of the archive become part of one array")
            }
            loader.reserve(store.count + elements.count)
            itemArrays.append(elements)
            var pace = InterruptionPace()
            for index in 0..<elements.count {
                // Only a script's import is ever interrupted.
                if pace.isDue() { throw .corruptArchive(Interruption.message) }
                do throws(PropertyListError) {
                    readElement(try archive.table.element(index, of: elements))
                } catch {
                    damagedItems += 1
                    note("item \(index + 1) of the archive is lost: \(error.message)")
                }
            }
        } else if let className, ArchiveSchema.isItemClass(className) {
            leaveOut("the one item of the archive becomes part of an array")
            singleItems.insert(uid)
            readElement(number)
        } else {
            leaveOut("\(key) of the archive is of class \(className ?? "none") and no array of items")
        }
    }

    /// Keeps the objects that the store cannot hold, to write them back with their items.
    private mutating func keepForeign() {
        guard !foreign.isEmpty else { return }
        var items = singleItems
        for elements in itemArrays {
            for index in 0..<elements.count {
                if let uid = try? reader.uid(at: reader.reference(index, in: elements)) { items.insert(uid) }
            }
        }
        var left = foreign
        do throws(ArchiveError) {
            let archive = try KeyedArchiveReader(reader, acceptsAnyArchiver: true)
            left = try schema.foreignFields.take(foreign, from: archive, items: items)
        } catch {
            leaveOut("the objects in fields of items cannot be kept: \(error)")
        }
        for field in left {
            let known = (try? archive.table.number(of: field.uid)).map { archive.describe($0) } ?? "damaged"
            leaveOut("\(field.name) of an item is \(known), which a field cannot hold")
        }
    }

    mutating func note(_ text: String) {
        if damage.count < 5 { damage.append(text) }
        leavesSomethingOut = true
    }

    mutating func leaveOut(_ notice: String) {
        leavesSomethingOut = true
        if leftOut.count < 20, !leftOut.contains(notice) { leftOut.append(notice) }
    }
}

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
