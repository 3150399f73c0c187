package import ColumnEngine
import Files
import KeyedArchive
import PropertyList

// Reading single items.
extension ItemArchiveReader {
    /// Reads an item, or records that it is lost.
    mutating func readElement(_ number: Int) {
        let place = elements.count
        if notesElements { elements.append(nil) }
        do throws(PropertyListError) {
            let row = try readItem(number)
            if notesElements, let row { elements[place] = store.keyString(row) }
        } catch {
            damagedItems += 1
            note("item \(count + 1) of the archive is lost: \(error.message)")
        }
    }

    /// - Returns: the item's row; nil if the object is not an item.
    private mutating func readItem(_ number: Int) throws(PropertyListError) -> UInt32? {
        guard let container = try archive.table.dictionary(at: number) else {
            leaveOut("an element of the archive is not an item")
            return nil
        }
        let shape = try archive.shape(of: container)
        if shape !== plan.shape { try makePlan(shape) }
        if schema.form == .keyedArchive, try !isOfItemClass(container) { return nil }
        let draft = loader.makeDraft()
        foreignOfItem.removeAll(keepingCapacity: true)
        var hasKey = false
        var lacksImage = false
        var isDamaged = false
        for (index, role) in plan.roles.enumerated() {
            do throws(PropertyListError) {
                let reference = reader.valueReference(index, in: container)
                if index == plan.imageKey {
                    lacksImage = isNull(try archive.resolve(reference))
                    if !lacksImage { hasTwoKeys = true }
                }
                switch role {
                case .className: continue
                case .name: store.setCell(draft.row, .name, try text(reference, .name, draft.row))
                case .serialNumber:
                    store.setCell(draft.row, .serialNumber, try text(reference, .serialNumber, draft.row))
                case .value: store.setCell(draft.row, .valueInDollars, try integer(reference, draft.row))
                case .date: store.setCell(draft.row, .dateCreated, try date(index, container, draft.row))
                case .itemKey: hasKey = try readKey(reference, draft)
                case .custom(let field, let name): try readCustom(reference, draft, field, name)
                }
            } catch {
                isDamaged = true
                if let field = role.field { store.setCell(draft.row, field, .absent) }
                note("item \(count + 1) of the archive lacks a field that cannot be read: \(error.message)")
            }
        }
        for field in plan.missing { store.setCell(draft.row, field, .absent) }
        if isDamaged { damagedItems += 1 }
        finish(draft, hasKey: hasKey, lacksImage: lacksImage)
        if !foreignOfItem.isEmpty {
            let key = store.keyString(draft.row)
            foreign += foreignOfItem.map { ForeignFields.Field(itemKey: key, name: $0.name, uid: $0.uid) }
        }
        count += 1
        return draft.row
    }

    /// Inserts an item into the store; one without a key gets a key that is the same at each opening.
    private mutating func finish(_ draft: ItemDraft, hasKey: Bool, lacksImage: Bool) {
        if hasKey {
            if (try? loader.insert(draft)) != nil {
                if notesElements { keyed.insert(ExactText(store.keyString(draft.row))) }
                if lacksImage { schema.keylessItems.insert(ExactText(store.keyString(draft.row))) }
                return
            }
            notices.append(
                "two items of the archive have the itemKey \(store.keyString(draft.row)): the second got a new one"
            )
        }
        var salt = UInt64(count)
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
        if !hasKey, schema.itemKeyKey != "itemKey" {
            schema.keylessItems.insert(ExactText(store.keyString(draft.row)))
        }
    }

    /// Whether an object's class is an item class; the first one becomes the schema's.
    private mutating func isOfItemClass(_ container: BinaryPropertyListContainer) throws(PropertyListError) -> Bool {
        let uid = try plan.classIndex.flatMap { index throws(PropertyListError) in
            try reader.uid(at: reader.valueReference(index, in: container))
        }
        if let uid, uid == itemClass { return true }
        var archived: ArchivedClass?
        if let uid { archived = isSalvaging ? try? archive.archivedClass(at: uid) : try archive.archivedClass(at: uid) }
        let className = archived?.name ?? (isSalvaging ? schema.className : "none")
        guard className == schema.className || ArchiveSchema.isItemClass(className) else {
            leaveOut("an element of the archive is of class \(className) and no item")
            return false
        }
        if !hasSchema {
            schema.className = className
            if let archived { schema.superclasses = archived.superclasses }
            hasSchema = true
        }
        itemClass = uid
        return true
    }

    private mutating func makePlan(_ shape: ArchiveShape) throws(PropertyListError) {
        plan = Plan()
        plan.shape = shape
        let names = shape.storedKeys
        func first(_ aliases: [String]) -> String? { aliases.first { alias in names.contains { $0 == alias } } }
        let name = first(ArchiveSchema.nameKeys)
        let serial = first(ArchiveSchema.serialNumberKeys)
        let value = first(ArchiveSchema.valueKeys)
        let date = first(ArchiveSchema.dateKeys)
        let key = first(ArchiveSchema.itemKeyKeys)
        if name != nil, key != nil || value != nil || date != nil { namesFields = true }
        if name == nil || serial == nil || value == nil || date == nil { hasOtherForms = true }
        if name == nil { plan.missing.append(.name) }
        if value == nil { plan.missing.append(.valueInDollars) }
        if date == nil { plan.missing.append(.dateCreated) }
        missingFields.formUnion(plan.missing)
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
            case "$class" where schema.form == .keyedArchive:
                plan.classIndex = index
                plan.roles.append(.className)
            case _ where name == text: plan.roles.append(.name)
            case _ where serial == text: plan.roles.append(.serialNumber)
            case _ where value == text: plan.roles.append(.value)
            case _ where date == text: plan.roles.append(.date)
            case _ where key == text: plan.roles.append(.itemKey)
            default:
                // An archiver writes a key that begins with $ as one that begins with $$.
                let key = schema.form == .keyedArchive ? ArchiveKey.given(text) : text
                if (try? FieldValidation.checkKeptName(key)) != nil {
                    let name = schema.field(ofArchivedKey: key)
                    plan.roles.append(.custom(store.field(named: name), name))
                } else {
                    plan.roles.append(.className)
                    leaveOut("the key \(text) of an item cannot be a field")
                }
            }
        }
    }
}

/// Loading of an empty store from an archive and its journal.
extension ItemLoader {
    /// Maps an archive's items into the empty store; none is read yet.
    ///
    /// - Parameters:
    ///   - items: the archive's items.
    ///   - index: their index file.
    ///   - slots: the index's table of keys.
    ///   - numbers: by field, the index's copy of its integers; nil if there is no usable one.
    ///   - damaged: called for a part that turns out to be unreadable; the store reports it.
    func map(
        _ items: MappedItems, _ index: ItemIndexFile, _ slots: MappedKeySlots, _ numbers: [MappedNumbers?],
        damaged: @escaping () -> Void
    ) {
        for name in index.customFields { _ = store.field(named: name) }
        let source = ArchiveRows(items, numbers: numbers)
        source.onDamage = { [weak store] text in
            damaged()
            store?.document.onDamage?(text)
        }
        store.map(index.count, index.fieldKinds, source, seed: index.seed, slots)
    }

    /// Applies the changes of one record of a journal.
    ///
    /// - Parameters:
    ///   - changes: the record's bytes.
    ///   - isTolerant: whether to skip changes of missing items.
    /// - Returns: the number of skipped changes.
    /// - Throws: ``StoreError`` with `corruptJournal`; the store is then unchanged.
    @discardableResult
    package func replay(_ changes: UnsafeRawBufferPointer, isTolerant: Bool = false) throws(StoreError) -> Int {
        var decoder = JournalDecoder(self, changes, isTolerant: isTolerant)
        try replaying { () throws(StoreError) in try decoder.replay() }
        return decoder.skipped
    }
}
