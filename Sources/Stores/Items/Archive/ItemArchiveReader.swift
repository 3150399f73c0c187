import KeyedArchive
import PropertyList

/// Reads a store's items from an archive of any edition: see `docs/journal.md` for what becomes of what.
///
/// Works in place on the bytes; a domain field costs no string and no allocation.
struct ItemArchiveReader {
    private let loader: ItemLoader
    private let store: ItemStore
    private let reader: BinaryPropertyListReader
    private let identity: ArchiveIdentity
    private var objects: ArchiveObjects
    private(set) var schema = ArchiveSchema()
    private(set) var notices: [String] = []
    /// What is in the archive that the store does not hold, in words; the first of it.
    private(set) var leftOut: [String] = []
    /// Whether something is in the archive that the store does not hold.
    private(set) var leavesSomethingOut = false
    /// Whether the archive holds its values in other forms than the store writes: absent, mutable, shared.
    private(set) var hasOtherForms = false
    /// Whether `elements` and `keyed` are wanted.
    var notesElements = false
    /// The keys of the items in the archive's order; nil for what is none.
    private(set) var elements: [String?] = []
    /// The keys that the archive names itself, and not this reader.
    private(set) var keyed: Set<String> = []
    /// Whether some item has a name, and a key, a value or a date.
    private(set) var namesFields = false
    private var valueForms: Set<Bool> = []
    private var lists: Set<Int> = []
    private(set) var count = 0
    /// What could not be read, in words; the first of it.
    private(set) var damage: [String] = []
    /// How many items are lost or lack something.
    private(set) var damagedItems = 0
    /// Whether the root is lost, and items are known by their keys alone.
    private var isSalvaging = false

    /// What the keys of an item mean; items of one class nearly always share them.
    private struct Plan {
        enum Role {
            case className, name, serialNumber, value, date, itemKey, custom(ItemField, String)
        }
        var keys: [UInt8] = []
        var roles: [Role] = []
        /// The entry `imageKey` of an item that has an `itemKey` too.
        var imageKey: Int?
    }

    private var plan = Plan()
    /// The objects in fields of items that no field can hold, and the arrays of items.
    private var foreign: [ForeignFields.Field] = []
    private var foreignOfItem: [(name: String, uid: UInt32)] = []
    private var itemArrays: [BinaryPropertyListContainer] = []
    private var singleItems: Set<UInt32> = []
    /// Long texts, by number: an archive of a few kilobytes may have one in a hundred thousand items.
    private var longTexts: [Int: Cell] = [:]
    private static let longText = 256
    private var hasSchema = false
    /// Whether some item has both an `itemKey` and an `imageKey` that is one.
    private var hasTwoKeys = false

    init(_ loader: ItemLoader, _ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity) {
        self.loader = loader
        store = loader.store
        self.reader = reader
        self.identity = identity
        objects = ArchiveObjects(reader)
    }

    /// The archive as it is, for saves that change of it what the items have changed; nil when that cannot be.
    var original: OriginalArchive? {
        schema.form == .keyedArchive && !isSalvaging ? OriginalArchive(reader, identity) : nil
    }

    /// Reads all items.
    mutating func read() throws(PropertyListError) {
        guard let root = try reader.container(at: reader.topObject) else {
            throw .unusable("the root is neither an archive nor an array of items")
        }
        if root.kind == .array {
            schema.form = .propertyList
            loader.reserve(root.count)
            for index in 0..<root.count { readElement(reader.reference(index, in: root)) }
        } else {
            let tops = try objects.open(root)
            for (key, uid) in tops {
                do throws(PropertyListError) {
                    try readTop(key, uid, isOnly: tops.count == 1)
                } catch {
                    note("\(key) of the archive cannot be read: \(error.message)")
                }
            }
            keepForeign()
        }
        settleKeys()
    }

    /// Reads the items of an archive whose root is lost, in the order in which they were written.
    mutating func readWithoutRoot() {
        guard let number = objects.openWithoutRoot() else { return }
        isSalvaging = true
        for uid in 1..<number {
            guard let number = try? objects.number(UInt32(truncatingIfNeeded: uid)), looksLikeItem(number) else {
                continue
            }
            readElement(number)
        }
        keepForeign()
        settleKeys()
    }

    /// Whether an object has what items have: a key, and a name or a value.
    private func looksLikeItem(_ number: Int) -> Bool {
        guard let found = try? reader.container(at: number), found.kind == .dictionary, found.count > 2 else {
            return false
        }
        var names: Set<String> = []
        for index in 0..<min(found.count, 64) {
            if let name = try? reader.string(at: reader.reference(index, in: found)) { names.insert(name) }
        }
        return !names.isDisjoint(with: ArchiveSchema.itemKeyKeys)
            && !names.isDisjoint(with: ArchiveSchema.nameKeys + ArchiveSchema.valueKeys)
    }

    private mutating func settleKeys() {
        // Items without an image have `itemKey` and no `imageKey`, as the writer makes them, or both are an
        // application's own, and `imageKey` is a field as any.
        if hasTwoKeys {
            schema.itemKeyKey = "itemKey"
            schema.keylessItems = []
        } else if !schema.keylessItems.isEmpty {
            schema.itemKeyKey = "imageKey"
        }
    }

    private mutating func readTop(_ key: String, _ uid: UInt32, isOnly: Bool) throws(PropertyListError) {
        let number = try objects.number(uid)
        guard let container = try reader.container(at: number), container.kind == .dictionary else {
            if !(try reader.isString(number, "$null")) { leaveOut("\(key) of the archive is no array of items") }
            return
        }
        let className = try objects.className(of: container)
        if let elements = try objects.elements(of: container) {
            if isOnly && key == "root" {
                schema.isMutableArray = className == "NSMutableArray"
            } else {
                leaveOut("the items under \(key) of the archive become part of one array")
            }
            loader.reserve(store.count + elements.count)
            itemArrays.append(elements)
            for index in 0..<elements.count {
                do throws(PropertyListError) {
                    guard let uid = try reader.uid(at: reader.reference(index, in: elements)) else {
                        throw .unusable("it is no reference")
                    }
                    readElement(try objects.number(uid))
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

    /// Keeps the objects that no field can hold, so that they are written back with their items.
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
            let known = (try? objects.describe(objects.number(field.uid))) ?? "damaged"
            leaveOut("\(field.name) of an item is \(known), which a field cannot hold")
        }
    }

    // MARK: One item

    /// Reads an item, or notes that it is lost.
    private mutating func readElement(_ number: Int) {
        let place = elements.count
        if notesElements { elements.append(nil) }
        do throws(PropertyListError) {
            let row = try readItem(number)
            if notesElements, let row { elements[place] = store.table.keyString(row) }
        } catch {
            damagedItems += 1
            note("item \(count + 1) of the archive is lost: \(error.message)")
        }
    }

    private mutating func note(_ text: String) {
        if damage.count < 5 { damage.append(text) }
        leavesSomethingOut = true
    }

    /// - Returns: the item's row; nil for what is no item.
    private mutating func readItem(_ number: Int) throws(PropertyListError) -> UInt32? {
        guard let container = try reader.container(at: number), container.kind == .dictionary else {
            leaveOut("an element of the archive is no item")
            return nil
        }
        if !reader.keyReferences(of: container).elementsEqual(plan.keys) { try makePlan(container) }
        if schema.form == .keyedArchive {
            var name =
                isSalvaging ? (try? objects.className(of: container)) ?? nil : try objects.className(of: container)
            if isSalvaging { name = name ?? schema.className }
            let className = name ?? "none"
            guard className == schema.className || ArchiveSchema.isItemClass(className) else {
                leaveOut("an element of the archive is of class \(className) and no item")
                return nil
            }
            if !hasSchema {
                schema.className = className
                if let lineage = try? objects.lineage(of: container), !lineage.isEmpty {
                    schema.superclasses = Array(lineage.dropFirst())
                }
                hasSchema = true
            }
        }
        let draft = loader.makeDraft()
        foreignOfItem.removeAll(keepingCapacity: true)
        var hasKey = false
        var lacksImage = false
        var isDamaged = false
        for (index, role) in plan.roles.enumerated() {
            do throws(PropertyListError) {
                let reference = reader.valueReference(index, in: container)
                if index == plan.imageKey {
                    lacksImage = isNull(try resolve(reference))
                    if !lacksImage { hasTwoKeys = true }
                }
                switch role {
                case .className: continue
                case .name:
                    let cell = try text(reference, "name")
                    if cell.isAbsent { hasOtherForms = true } else { store.table.names[draft.row] = cell }
                case .serialNumber: store.table.serials[draft.row] = try text(reference, "serialNumber")
                case .value: store.table.values[draft.row] = try integer(reference)
                case .date: store.table.dates[draft.row] = try date(reference)
                case .itemKey: hasKey = try readKey(reference, draft)
                case .custom(let field, let name): try readCustom(reference, draft, field, name)
                }
            } catch {
                isDamaged = true
                note("item \(count + 1) of the archive lacks a field that cannot be read: \(error.message)")
            }
        }
        if isDamaged { damagedItems += 1 }
        finish(draft, hasKey: hasKey, lacksImage: lacksImage)
        if !foreignOfItem.isEmpty {
            let key = store.table.keyString(draft.row)
            foreign += foreignOfItem.map { ForeignFields.Field(itemKey: key, name: $0.name, uid: $0.uid) }
        }
        count += 1
        return draft.row
    }

    /// Gives an item without a key one that is the same at each opening, and puts it into the store.
    private mutating func finish(_ draft: ItemDraft, hasKey: Bool, lacksImage: Bool) {
        if hasKey {
            if (try? loader.insert(draft)) != nil {
                if notesElements { keyed.insert(store.table.keyString(draft.row)) }
                if lacksImage { schema.keylessItems.insert(store.table.keyString(draft.row)) }
                return
            }
            notices.append(
                "two items of the archive have the itemKey \(store.table.keyString(draft.row)): the second got a new one"
            )
        }
        var salt = UInt64(count)
        while true {
            var seed: [UInt8] = []
            seed.appendLittleEndian(identity.size)
            seed.appendLittleEndian(identity.checksum)
            seed.appendLittleEndian(salt)
            store.table.keys[draft.row] = .uuid(
                high: Checksum.hash(seed, seed: 1), low: Checksum.hash(seed, seed: 2), version: 8)
            store.table.textKeys[draft.row] = false
            if (try? loader.insert(draft)) != nil { break }
            salt &+= 1 << 40
        }
        if !hasKey, schema.itemKeyKey != "itemKey" {
            schema.keylessItems.insert(store.table.keyString(draft.row))
        }
    }

    private mutating func makePlan(_ container: BinaryPropertyListContainer) throws(PropertyListError) {
        plan = Plan()
        plan.keys = Array(reader.keyReferences(of: container))
        var names: [String] = []
        for index in 0..<container.count {
            guard let name = try reader.string(at: reader.reference(index, in: container)) else {
                throw .unusable("a key of an item is no string")
            }
            names.append(name)
        }
        func first(_ aliases: [String]) -> String? { aliases.first { names.contains($0) } }
        let name = first(ArchiveSchema.nameKeys)
        let serial = first(ArchiveSchema.serialNumberKeys)
        let value = first(ArchiveSchema.valueKeys)
        let date = first(ArchiveSchema.dateKeys)
        let key = first(ArchiveSchema.itemKeyKeys)
        if name != nil, key != nil || value != nil || date != nil { namesFields = true }
        if name == nil || serial == nil || value == nil || date == nil { hasOtherForms = true }
        if !hasSchema {
            if let name { schema.nameKey = name }
            if let serial { schema.serialNumberKey = serial }
            if let value { schema.valueKey = value }
            if let key { schema.itemKeyKey = key }
        }
        if schema.form == .propertyList { hasSchema = true }
        for (index, text) in names.enumerated() {
            if text == "imageKey", key == "itemKey" { plan.imageKey = index }
            switch text {
            case "$class" where schema.form == .keyedArchive: plan.roles.append(.className)
            case name: plan.roles.append(.name)
            case serial: plan.roles.append(.serialNumber)
            case value: plan.roles.append(.value)
            case date: plan.roles.append(.date)
            case key: plan.roles.append(.itemKey)
            default:
                // An archiver writes a key that begins with $ as one that begins with $$.
                if (try? FieldValidation.checkName(text)) != nil {
                    let name = schema.field(ofArchivedKey: text)
                    plan.roles.append(.custom(store.fields.field(named: name), name))
                } else {
                    plan.roles.append(.className)
                    leaveOut("the key \(text) of an item cannot be a field")
                }
            }
        }
    }

    // MARK: Fields

    /// The object that a value stands for: the one that a reference names, or the inline value itself.
    @inline(__always)
    private func resolve(_ reference: Int) throws(PropertyListError) -> Int {
        guard schema.form == .keyedArchive, let uid = try reader.uid(at: reference) else { return reference }
        return try objects.number(uid)
    }

    @inline(__always)
    private func isNull(_ number: Int) -> Bool { number == objects.nullNumber }

    private mutating func text(_ reference: Int, _ field: String) throws(PropertyListError) -> Cell {
        let number = try resolve(reference)
        if isNull(number) { return .absent }
        if let bytes = try reader.asciiString(at: number) { return cell(number, bytes) }
        if let text = try reader.string(at: number) { return store.heap.text(text) }
        if case .string(let text)? = try objects.value(number) {
            hasOtherForms = true
            return store.heap.text(text)
        }
        if try reader.kind(of: number) != .null { leaveOut("the \(field) of an item is no text") }
        return .absent
    }

    /// The cell of a text, one for all items that have the same long one.
    @inline(__always)
    private mutating func cell(_ number: Int, _ bytes: UnsafeRawBufferPointer) -> Cell {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        guard bytes.count > Self.longText else { return store.heap.text(text) }
        if let known = longTexts[number] { return known }
        let cell = store.heap.text(text)
        longTexts[number] = cell
        return cell
    }

    private mutating func integer(_ reference: Int) throws(PropertyListError) -> Int64 {
        let number = try resolve(reference)
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

    private mutating func date(_ reference: Int) throws(PropertyListError) -> Double {
        let number = try resolve(reference)
        if isNull(number) {
            hasOtherForms = true
            return 0
        }
        if let date = try objects.date(number) { return date.secondsSinceReferenceDate }
        leaveOut("dateCreated of an item is no date")
        return 0
    }

    private mutating func readKey(_ reference: Int, _ draft: ItemDraft) throws(PropertyListError) -> Bool {
        let number = try resolve(reference)
        if let bytes = try reader.asciiString(at: number),
            let packed = PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
        {
            store.table.keys[draft.row] = packed
            return true
        }
        let cell = try text(reference, "itemKey")
        guard cell.isText, cell.withText({ $0.count > 0 }) else { return false }
        store.table.keys[draft.row] = PackedKey(text: cell)
        store.table.textKeys[draft.row] = true
        return true
    }

    private mutating func readCustom(
        _ reference: Int, _ draft: ItemDraft, _ field: ItemField, _ name: String
    ) throws(PropertyListError) {
        let number = try resolve(reference)
        if isNull(number) {
            hasOtherForms = true
            return
        }
        if let bytes = try reader.asciiString(at: number) {
            return store.table.setCell(draft.row, field, cell(number, bytes))
        }
        guard let value = try objects.value(number),
            let checked = try? FieldValidation.checked(value, for: field, named: name)
        else {
            if schema.form == .keyedArchive, let uid = try reader.uid(at: reference) {
                return foreignOfItem.append((name, uid))
            }
            let known = try objects.describe(number)
            return leaveOut("\(name) of an item is \(known), which a field cannot hold")
        }
        if number == reference, schema.form == .keyedArchive { schema.inlineFields.insert(name) }
        // A list that several items have.
        if case .array = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if case .dictionary = checked, !lists.insert(number).inserted { hasOtherForms = true }
        if objects.metOtherForm { hasOtherForms = true }
        store.table.setCell(draft.row, field, store.heap.cell(checked))
    }

    private mutating func leaveOut(_ notice: String) {
        leavesSomethingOut = true
        if leftOut.count < 20, !leftOut.contains(notice) { leftOut.append(notice) }
    }
}
