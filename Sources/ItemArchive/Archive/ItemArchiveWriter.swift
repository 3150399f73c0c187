package import ColumnEngine
import KeyedArchive
import PropertyList

/// Writes a snapshot as an archive.
package struct ItemArchiveWriter {
    /// Prefetch distance in items.
    private static let lookahead = 8

    private let snapshot: ItemSnapshot
    private let schema: ArchiveSchema

    package init(_ snapshot: ItemSnapshot, _ schema: ArchiveSchema) {
        self.snapshot = snapshot
        self.schema = schema
    }

    /// The archive's bytes.
    package func bytes() throws(StoreError) -> [UInt8] {
        do {
            switch schema.form {
            case .keyedArchive:
                if let original = schema.original { return try original.encoded(with: snapshot, schema) }
                return try keyedArchive()
            case .propertyList: return try propertyList().encoded(as: .binary)
            }
        } catch {
            throw StoreError(.inputOutput, "the items could not be archived: \(error)", cause: error)
        }
    }

    /// Whether the archive is large enough to be written in pieces, so that it is never in memory as a whole.
    var isLarge: Bool { schema.form == .keyedArchive && schema.original == nil && snapshot.count >= 50_000 }

    /// Writes a keyed archive while encoding it.
    func write(to output: any PropertyListOutput) throws(StoreError) {
        do {
            let archiver = KeyedArchiver(writingTo: output, expectedObjects: expectedObjects)
            try encode(archiver)
            try archiver.finishWriting()
        } catch {
            throw StoreError(.inputOutput, "the items could not be archived: \(error)", cause: error)
        }
    }

    /// An item, its two texts, its date, its key.
    private var expectedObjects: Int { snapshot.count * 5 + 64 }

    private func keyedArchive() throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver(expectedObjects: expectedObjects)
        try encode(archiver)
        return try archiver.finishEncoding()
    }

    private func encode(_ archiver: KeyedArchiver) throws(ArchiveError) {
        let name = archiver.key(schema.nameKey)
        let serial = archiver.key(schema.serialNumberKey)
        let value = archiver.key(schema.valueKey)
        let date = archiver.key(schema.dateKey)
        let key = archiver.key(schema.itemKeyKey)
        let custom = snapshot.fieldNames.map { archiver.key(schema.archivedKey(ofField: $0)) }
        let inline = snapshot.fieldNames.map { schema.inlineFields.contains(ExactText($0)) }
        let foreign = try schema.foreignFields.objects()
        let archivedClass = ArchivedClass(schema.className, superclasses: schema.superclasses)
        let (valueIsObject, keylessItems, hasForeign) = (schema.valueIsObject, schema.keylessItems, !foreign.isEmpty)
        let hasKeyless = !keylessItems.isEmpty
        try archiver.encodeRecords(
            0..<snapshot.count, of: archivedClass, isMutable: schema.isMutableArray
        ) { index, archiver throws(ArchiveError) in
            expect(index + Self.lookahead, archiver)
            let objects = hasForeign ? foreignObjects(foreign, index) : [:]
            let nameCell = snapshot.cell(index, .name)
            if nameCell.isText {
                try nameCell.withText { text throws(ArchiveError) in try archiver.encode(utf8: text, forKey: name) }
            } else {
                try encode(nameCell, .name, name, objects, archiver)
            }
            let serialNumber = snapshot.cell(index, .serialNumber)
            if serialNumber.isText {
                try serialNumber.withText { text throws(ArchiveError) in
                    try archiver.encode(utf8: text, forKey: serial)
                }
            } else if serialNumber.isAbsent, objects.isEmpty {
                try archiver.encode(String?.none, forKey: serial)
            } else {
                try encode(serialNumber, .serialNumber, serial, objects, archiver)
            }
            let number = snapshot.cell(index, .valueInDollars)
            if number.kind != .integer || !objects.isEmpty {
                try encode(number, .valueInDollars, value, objects, archiver)
            } else if valueIsObject {
                try archiver.encode(PropertyListValue.integer(number.integerValue), forKey: value)
            } else {
                try archiver.encode(number.integerValue, forKey: value)
            }
            let created = snapshot.cell(index, .dateCreated)
            if created.kind == .date {
                try archiver.encode(PropertyListDate(secondsSinceReferenceDate: created.realValue), forKey: date)
            } else {
                try encode(created, .dateCreated, date, objects, archiver)
            }
            if hasKeyless, keylessItems.contains(ExactText(snapshot.keyString(index))) {
                // The application's own key stays nil: ours has another name.
                try archiver.encode(String?.none, forKey: key)
                try archiver.encode(snapshot.keyString(index), forKey: "itemKey")
            } else {
                try encodeKey(index, key, archiver)
            }
            if !objects.isEmpty { try encode(objects, of: index, archiver) }
            try snapshot.forEachCustomField(index) { field, cell throws(ArchiveError) in
                try encode(cell, custom[Int(field)], inline[Int(field)], archiver)
            }
        }
    }

    /// Writes an item's key. A UUID is written as unique: it is hardly the text of another field, too.
    @inline(__always)
    private func encodeKey(_ index: Int, _ key: ArchiveKey, _ archiver: KeyedArchiver) throws(ArchiveError) {
        let packed = snapshot.key(index)
        if snapshot.isTextKey(index) {
            try packed.cell.withText { text throws(ArchiveError) in try archiver.encode(utf8: text, forKey: key) }
        } else {
            try archiver.encode(uniqueASCII: PackedKey.textCount, forKey: key) { packed.writeUUID(to: $0) }
        }
    }

    /// Prefetches an item.
    @inline(__always)
    private func expect(_ index: Int, _ archiver: KeyedArchiver) {
        guard snapshot.isInMemory, index < snapshot.count else { return }
        snapshot.cell(index, .name).withText { archiver.expect($0) }
        snapshot.cell(index, .serialNumber).withText { archiver.expect($0) }
        let date = snapshot.cell(index, .dateCreated)
        if date.kind == .date { archiver.expect(PropertyListDate(secondsSinceReferenceDate: date.realValue)) }
    }

    /// Writes an item's objects of another application's classes, unless a custom field has replaced them.
    private func encode(
        _ foreign: [ExactText: ArchiveValue], of index: Int, _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        var names = Set(schema.fields.map { ExactText($0.name) })
        snapshot.forEachCustomField(index) { field, _ in names.insert(ExactText(snapshot.fieldNames[Int(field)])) }
        for (name, value) in foreign.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
            try archiver.encode(value, forKey: schema.archivedKey(ofField: name.string))
        }
    }

    /// An item's objects of another application's classes, by field; those of the item that it is a copy of.
    private func foreignObjects(_ foreign: ForeignFields.Objects, _ index: Int) -> [ExactText: ArchiveValue] {
        let key = snapshot.keyString(index)
        return foreign.fields(ofItem: snapshot.source(ofCopy: key) ?? key)
    }

    /// Writes a field of every item whose value is not of its kind, or whose object in the archive says more.
    private func encode(
        _ cell: Cell, _ field: ItemField, _ key: ArchiveKey, _ objects: [ExactText: ArchiveValue],
        _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        let value = snapshot.value(cell)
        if let object = objects[ExactText(snapshot.fieldNames[Int(field.rawValue)])],
            ItemObjectEditor.areSame(object.carriedValue, value)
        {
            return try archiver.encode(object, forKey: key)
        }
        guard value != nil else {
            if field == .serialNumber || schema.nilFields.contains(field) {
                try archiver.encode(String?.none, forKey: key)
            }
            return
        }
        try encode(cell, key, field == .valueInDollars && !schema.valueIsObject, archiver)
    }

    private func encode(
        _ cell: Cell, _ key: ArchiveKey, _ isInline: Bool, _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        if cell.isText {
            return try cell.withText { text throws(ArchiveError) in try archiver.encode(utf8: text, forKey: key) }
        }
        guard let value = snapshot.value(cell) else { return }
        if isInline {
            switch value {
            case .boolean(let value): return try archiver.encode(value, forKey: key)
            case .integer(let value): return try archiver.encode(value, forKey: key)
            case .real(let value): return try archiver.encode(value, forKey: key)
            case .single(let value): return try archiver.encode(value, forKey: key)
            default: break
            }
        }
        try archiver.encode(value, forKey: key)
    }

    private func propertyList() -> PropertyListValue {
        var items: [PropertyListValue] = []
        items.reserveCapacity(snapshot.count)
        for index in 0..<snapshot.count {
            var values = snapshot.values(at: index)
            var entries: PropertyListFields = [:]
            for field in schema.fields {
                let value = values.removeValue(forKey: field.name)
                if value != .null { entries[field.key] = value }
            }
            for (name, value) in values { entries[schema.archivedKey(ofField: name)] = value }
            items.append(.fields(entries))
        }
        return .array(items)
    }
}

extension ArchiveValue {
    /// The value under which the store carries an object of a field of every item; nil if it cannot hold it.
    var carriedValue: PropertyListValue? {
        if case .value(.decimal(let decimal)) = self { decimal.propertyListValue } else { nil }
    }
}
