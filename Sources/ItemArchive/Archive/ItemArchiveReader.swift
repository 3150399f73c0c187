package import ColumnEngine
import Files
import KeyedArchive
package import PropertyList

/// Reads a store's items from an archive of any edition; `docs/journal.md` describes the mapping.
package struct ItemArchiveReader {
    /// What is read.
    enum Mode {
        /// The items.
        case items
        /// The items, and the keys of the archive's elements, to edit them.
        case itemsAndKeys
        /// The objects with the keys of an item, in the order of writing: the root is lost.
        case withoutRoot
    }

    /// An array in a field may nest as deep as the field.
    static let limits = ArchiveLimits(
        propertyList: PropertyListLimits(maximumDepth: FieldValidation.depthLimit + 1))

    /// What was found, besides the items themselves.
    package private(set) var report: ItemArchiveReport
    private let mode: Mode
    private let loader: ItemLoader
    private let store: ColumnStore
    private let reader: BinaryPropertyListReader
    private let identity: ArchiveIdentity
    private var values: ItemValueReader
    private var plan = ItemPlan()
    /// The class of the items, if one was read.
    private var itemClass: UInt32?
    /// The arrays of items, and the items outside of them.
    private var itemArrays: [BinaryPropertyListContainer] = []
    private var singleItems: Set<UInt32> = []
    /// Whether some item has both a key of its own and one of its image.
    private var hasTwoKeys = false

    package init(_ loader: ItemLoader, _ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity) {
        self.init(loader, reader, identity, .items)
    }

    init(_ loader: ItemLoader, _ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity, _ mode: Mode) {
        self.loader = loader
        store = loader.store
        self.reader = reader
        self.identity = identity
        self.mode = mode
        report = ItemArchiveReport(store)
        if case .itemsAndKeys = mode { report.keys = ItemArchiveReport.Keys() }
        values = ItemValueReader(Self.archive(ArchiveObjectTable(plain: reader)), reader, store)
    }

    private static func archive(_ table: ArchiveObjectTable) -> ArchiveObjectReader {
        ArchiveObjectReader(table, limits: limits, isReadWhole: true)
    }

    /// The archive itself, for saves that edit it where items have changed; nil if that is impossible.
    var original: OriginalArchive? {
        report.schema.form == .keyedArchive && mode != .withoutRoot
            ? OriginalArchive(reader, identity, store.schema) : nil
    }

    // MARK: The archive

    /// Reads all items.
    package mutating func read() throws(PropertyListError) {
        if mode == .withoutRoot { return readWithoutRoot() }
        guard let root = try reader.container(at: reader.topObject) else {
            throw .corruptArchive("the root is neither an archive nor an array of items")
        }
        if root.kind == .array {
            report.schema.form = .propertyList
            loader.reserve(root.count)
            for index in 0..<root.count { readElement(reader.reference(index, in: root)) }
        } else {
            values.archive = Self.archive(try ArchiveObjectTable(reader, isForgiving: true))
            var tops: [(key: String, uid: UInt32)] = []
            for (key, value) in values.archive.table.top {
                if let uid = try reader.uid(at: value) {
                    tops.append((key, uid))
                } else {
                    report.leaveOut(.other("\(key) of the archive is not an array of items"))
                }
            }
            for index in 0..<root.count {
                let key = try reader.string(at: reader.reference(index, in: root)) ?? "a key"
                if ["$version", "$archiver", "$top", "$objects"].contains(key) { continue }
                report.leaveOut(.other("\(key) of the archive is beside its objects"))
            }
            for (key, uid) in tops {
                do throws(PropertyListError) {
                    try readTop(key, uid, isOnly: tops.count == 1)
                } catch {
                    report.recordDamage("\(key) of the archive cannot be read: \(error.message)")
                }
            }
        }
        report.settleForms()
        report.settleKeys(hasTwoKeys: hasTwoKeys)
    }

    private mutating func readWithoutRoot() {
        guard let table = ArchiveObjectTable(withoutRoot: reader), let objects = table.objects else { return }
        values.archive = Self.archive(table)
        for index in 1..<objects.count {
            let number = reader.reference(index, in: objects)
            if looksLikeItem(number) { readElement(number) }
        }
        report.settleKeys(hasTwoKeys: hasTwoKeys)
    }

    /// Whether an object has the keys of an item: an item's key, and another that no item lacks.
    private func looksLikeItem(_ number: Int) -> Bool {
        guard let found = try? values.archive.table.dictionary(at: number), found.count > 2 else { return false }
        var names: NameSet = []
        for index in 0..<min(found.count, 64) {
            if let name = try? reader.string(at: reader.reference(index, in: found)) { names.insert(name) }
        }
        let schema = store.schema
        return schema.keyNames.contains(where: names.contains)
            && schema.fields.contains { field in
                !field.kind.isOptional && !field.isStamped && field.archiveNames.contains(where: names.contains)
            }
    }

    private mutating func readTop(_ key: String, _ uid: UInt32, isOnly: Bool) throws(PropertyListError) {
        let number = try values.archive.table.number(of: uid)
        guard let container = try values.archive.table.dictionary(at: number) else {
            if !(try reader.isString(number, "$null")) {
                report.leaveOut(.other("\(key) of the archive is not an array of items"))
            }
            return
        }
        let className = try values.archive.archivedClass(of: container)?.name
        if let elements = try values.archive.elements(of: container) {
            if isOnly && key == "root" {
                report.schema.isMutableArray = className == "NSMutableArray"
            } else {
                report.leaveOut(.other("the items under \(key) of the archive become part of one array"))
            }
            loader.reserve(store.count + elements.count)
            itemArrays.append(elements)
            var pace = InterruptionPace()
            for index in 0..<elements.count {
                // Only a script's import is ever interrupted.
                if pace.isDue() { throw .corruptArchive(Interruption.message) }
                do throws(PropertyListError) {
                    readElement(try values.archive.table.element(index, of: elements))
                } catch {
                    report.recordLoss(ofItem: index + 1, error.message)
                }
            }
        } else if let className, store.schema.isItemClass(className) {
            report.leaveOut(.other("the one item of the archive becomes part of an array"))
            singleItems.insert(uid)
            readElement(number)
        } else {
            report.leaveOut(.other("\(key) of the archive is of class \(className ?? "none") and no array of items"))
        }
    }

    /// Keeps the objects that the store cannot hold, to write them back with their items.
    mutating func keepForeign() {
        guard !report.foreign.isEmpty else { return }
        var items = singleItems
        for elements in itemArrays {
            for index in 0..<elements.count {
                if let uid = try? reader.uid(at: reader.reference(index, in: elements)) { items.insert(uid) }
            }
        }
        do throws(ArchiveError) {
            let archive = try KeyedArchiveReader(reader, acceptsAnyArchiver: true)
            for (field, reason) in try report.schema.foreignFields.take(report.foreign, from: archive, items: items) {
                if let reason {
                    report.leaveOut(.unreadable(ExactText(field.name), reason.message), field.row)
                } else {
                    leaveOut(field)
                }
            }
        } catch {
            for field in report.foreign {
                report.leaveOut(.unreadable(ExactText(field.name), error.message), field.row)
            }
        }
    }

    /// Counts the objects in custom fields as left out: an import takes values only.
    package mutating func leaveOutForeign() {
        for field in report.foreign where !store.schema.has(field.name) { leaveOut(field) }
    }

    private mutating func leaveOut(_ field: ForeignFields.Field) {
        let number = try? values.archive.table.number(of: field.uid)
        let known = number.map { values.archive.describe($0) } ?? "damaged"
        report.leaveOut(.object(ExactText(field.name), known), field.row)
    }

    // MARK: Single items

    /// Reads an item, or records that it is lost.
    private mutating func readElement(_ number: Int) {
        let place = report.keys?.elements.count ?? 0
        report.keys?.elements.append(nil)
        do throws(PropertyListError) {
            if let row = try readItem(number) { report.keys?.elements[place] = store.keyString(row) }
        } catch {
            report.recordLoss(ofItem: report.count + 1, error.message)
        }
    }

    /// - Returns: the item's row; nil if the object is not an item.
    private mutating func readItem(_ number: Int) throws(PropertyListError) -> UInt32? {
        guard let container = try values.archive.table.dictionary(at: number) else {
            report.leaveOut(.element(className: nil))
            return nil
        }
        let shape = try values.archive.shape(of: container)
        if shape !== plan.shape { plan = ItemPlan(shape, &report, store) }
        if report.schema.form == .keyedArchive, try !isOfItemClass(container) { return nil }
        let draft = loader.makeDraft()
        values.begin()
        var hasKey = false
        var lacksImage = false
        var isDamaged = false
        for (index, role) in plan.roles.enumerated() {
            do throws(PropertyListError) {
                let reference = reader.valueReference(index, in: container)
                if index == plan.imageKey {
                    lacksImage = values.isNull(try values.archive.resolve(reference))
                    if !lacksImage { hasTwoKeys = true }
                }
                switch role {
                case .className: continue
                case .field(let field, let kind):
                    let cell =
                        switch kind {
                        case .text, .mixed: try values.text(reference, field, draft.row, &report)
                        case .integer: try values.integer(reference, field, draft.row, &report)
                        case .date: try values.date(index, container, field, draft.row, &report)
                        }
                    store.setCell(draft.row, field, cell)
                case .itemKey: hasKey = try values.readKey(reference, draft, &report)
                case .custom(let field, let name): try values.readCustom(reference, draft, field, name, &report)
                }
            } catch {
                isDamaged = true
                if let field = role.field { store.setCell(draft.row, field, .absent) }
                report.recordDamage(
                    "item \(report.count + 1) of the archive lacks a field that cannot be read: \(error.message)")
            }
        }
        for field in plan.missing { store.setCell(draft.row, field, .absent) }
        if isDamaged { report.damagedItems += 1 }
        finish(draft, hasKey: hasKey, lacksImage: lacksImage)
        if !values.foreign.isEmpty {
            let key = store.keyString(draft.row)
            report.foreign += values.foreign.map {
                ForeignFields.Field(itemKey: key, row: draft.row, name: $0.name, uid: $0.uid)
            }
        }
        report.count += 1
        return draft.row
    }

    /// Inserts an item into the store; one without a key gets a key that is the same at each opening.
    private mutating func finish(_ draft: ItemDraft, hasKey: Bool, lacksImage: Bool) {
        if hasKey {
            if (try? loader.insert(draft)) != nil {
                report.keys?.contained.insert(ExactText(store.keyString(draft.row)))
                if lacksImage { report.schema.keylessItems.insert(ExactText(store.keyString(draft.row))) }
                return
            }
            report.notices.append(
                "two items of the archive have the itemKey \(store.keyString(draft.row)): the second got a new one"
            )
        }
        var salt = UInt64(report.count)
        while true {
            var seed: [UInt8] = []
            seed.appendLittleEndian(identity.size)
            seed.appendLittleEndian(identity.checksum)
            seed.appendLittleEndian(salt)
            store.setKey(
                draft.row,
                .uuid(
                    high: Checksum.hash(seed, seed: 1), low: Checksum.hash(seed, seed: 2), version: 8))
            if (try? loader.insert(draft)) != nil { break }
            salt &+= 1 << 40
        }
        if !hasKey, report.schema.itemKeyKey != store.schema.keyNames.first {
            report.schema.keylessItems.insert(ExactText(store.keyString(draft.row)))
        }
    }

    /// Whether an object's class is an item class; the first one becomes the schema's.
    private mutating func isOfItemClass(_ container: BinaryPropertyListContainer) throws(PropertyListError) -> Bool {
        let uid = try plan.classIndex.flatMap { index throws(PropertyListError) in
            try reader.uid(at: reader.valueReference(index, in: container))
        }
        if let uid, uid == itemClass { return true }
        let isSalvaging = mode == .withoutRoot
        var archived: ArchivedClass?
        if let uid {
            archived =
                isSalvaging ? try? values.archive.archivedClass(at: uid) : try values.archive.archivedClass(at: uid)
        }
        let className = archived?.name ?? (isSalvaging ? report.schema.className : "none")
        guard className == report.schema.className || store.schema.isItemClass(className) else {
            report.leaveOut(.element(className: className))
            return false
        }
        if !report.hasSchema {
            report.schema.className = className
            if let archived { report.schema.superclasses = archived.superclasses }
            report.hasSchema = true
        }
        itemClass = uid
        return true
    }
}

extension ItemArchiveReader {
    /// What the items of an application's archive have in their fields that is not of the fields' kinds, in words.
    ///
    /// - Parameters:
    ///   - bytes: the archive.
    ///   - schema: the fields.
    /// - Returns: nothing for a file that is not an archive of items, and for one with nothing but nil in fields that
    ///   are objects.
    package static func notices(on bytes: [UInt8], _ schema: ItemSchema) -> [String] {
        guard let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes)) else { return [] }
        let store = ColumnStore(schema)
        var items = ItemArchiveReader(ItemLoader(store), reader, ArchiveIdentity(of: bytes))
        guard (try? items.read()) != nil else { return [] }
        let report = items.report
        guard report.schema.form == .keyedArchive, report.hasSchema, report.namesFields else { return [] }
        let misfits = store.misfits()
        if report.remarks.isEmpty, misfits.allSatisfy(\.isOnlyNil) { return [] }
        return misfits.map(\.description) + report.remarks
    }
}
