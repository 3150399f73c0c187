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
        let fields = schema.schema.numbers.dropLast().map { field in
            WrittenField(
                field: field, kind: schema.schema.kinds[Int(field.rawValue)],
                key: archiver.key(schema.keys[Int(field.rawValue)]), isObject: schema.objectFields.contains(field))
        }
        let key = archiver.key(schema.itemKeyKey)
        let custom = snapshot.fieldNames.map { archiver.key(schema.archivedKey(ofField: $0)) }
        let inline = snapshot.fieldNames.map { schema.inlineFields.contains(ExactText($0)) }
        let foreign = try schema.foreignFields.objects()
        let archivedClass = ArchivedClass(schema.className, superclasses: schema.superclasses)
        let (keylessItems, hasForeign) = (schema.keylessItems, !foreign.isEmpty)
        let hasKeyless = !keylessItems.isEmpty
        try archiver.encodeRecords(
            0..<snapshot.count, of: archivedClass, isMutable: schema.isMutableArray
        ) { index, archiver throws(ArchiveError) in
            expect(index + Self.lookahead, fields, archiver)
            let objects = hasForeign ? foreignObjects(foreign, index) : [:]
            for field in fields { try encode(field, of: index, objects, archiver) }
            if hasKeyless, keylessItems.contains(ExactText(snapshot.keyString(index))) {
                // The application's own key stays nil: ours has another name.
                try archiver.encode(String?.none, forKey: key)
                try archiver.encode(snapshot.keyString(index), forKey: schema.schema.keyNames[0])
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

    /// A field of every item, as it is written.
    private struct WrittenField {
        let field: ItemField
        let kind: DeclaredKind
        let key: ArchiveKey
        /// Whether an integer is an object and not inline.
        let isObject: Bool
    }

    /// Writes a field of every item.
    @inline(__always)
    private func encode(
        _ field: WrittenField, of index: Int, _ objects: [ExactText: ArchiveValue], _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        let cell = snapshot.cell(index, field.field)
        switch field.kind.kind {
        case .text where cell.isText:
            try cell.withText { text throws(ArchiveError) in try archiver.encode(utf8: text, forKey: field.key) }
        case .text where cell.isAbsent && field.kind.isOptional && objects.isEmpty:
            try archiver.encode(String?.none, forKey: field.key)
        case .integer where cell.kind == .integer && objects.isEmpty:
            if field.isObject {
                try archiver.encode(PropertyListValue.integer(cell.integerValue), forKey: field.key)
            } else {
                try archiver.encode(cell.integerValue, forKey: field.key)
            }
        case .date where cell.kind == .date:
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: cell.realValue), forKey: field.key)
        default: try encode(cell, field, objects, archiver)
        }
    }

    /// Prefetches an item.
    @inline(__always)
    private func expect(_ index: Int, _ fields: [WrittenField], _ archiver: KeyedArchiver) {
        guard snapshot.isInMemory, index < snapshot.count else { return }
        for field in fields where field.kind.kind != .integer {
            let cell = snapshot.cell(index, field.field)
            if field.kind.kind == .text {
                cell.withText { archiver.expect($0) }
            } else if cell.kind == .date {
                archiver.expect(PropertyListDate(secondsSinceReferenceDate: cell.realValue))
            }
        }
    }

    /// Writes an item's objects of another application's classes, unless a custom field has replaced them.
    private func encode(
        _ foreign: [ExactText: ArchiveValue], of index: Int, _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        var names = Set(schema.schema.names.map { ExactText($0) })
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
        _ cell: Cell, _ field: WrittenField, _ objects: [ExactText: ArchiveValue], _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        let (value, key) = (snapshot.value(cell), field.key)
        if let object = objects[ExactText(snapshot.fieldNames[Int(field.field.rawValue)])],
            ItemObjectEditor.areSame(object.carriedValue, value)
        {
            return try archiver.encode(object, forKey: key)
        }
        guard value != nil else {
            if field.kind.isOptional || schema.nilFields.contains(field.field) {
                try archiver.encode(String?.none, forKey: key)
            }
            return
        }
        try encode(cell, key, field.kind.kind == .integer && !field.isObject, archiver)
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
        let items = (0..<snapshot.count).map { index -> PropertyListValue in
            var values = snapshot.values(at: index)
            var entries: PropertyListFields = [:]
            for field in schema.fields {
                let value = values.removeValue(forKey: field.name)
                if value != .null { entries[field.key] = value }
            }
            for (name, value) in values { entries[schema.archivedKey(ofField: name)] = value }
            return .fields(entries)
        }
        return .array(items)
    }
}

extension ArchiveSchema {
    /// The objects that a save writes back, and that items' values do not have: see ``DocumentPersistence``.
    func unheldObjects(of rows: [UInt32], in columns: ColumnStore) throws(StoreError) -> [UnheldObject] {
        if foreignFields.isEmpty { return [] }
        let objects: ForeignFields.Objects
        do throws(ArchiveError) { objects = try foreignFields.objects() } catch {
            throw StoreError(
                .corruptArchive, "the objects in fields of items cannot be read: \(error.message)", cause: error)
        }
        let snapshot = ItemSnapshot(columns)
        var found: [UnheldObject] = []
        for row in rows {
            let key = columns.keyString(row)
            let fields = objects.fields(ofItem: snapshot.source(ofCopy: key) ?? key)
            for (name, object) in fields.sorted(by: { $0.key < $1.key }) {
                let value = columns.existingField(named: name.string).flatMap { columns.value(row, $0) }
                if value == nil {
                    found.append(UnheldObject(row: row, field: name.string, kind: object.className))
                } else if let decimal = object.decimal, !decimal.isExactAsValue,
                    ItemObjectEditor.areSame(decimal.propertyListValue, value)
                {
                    found.append(UnheldObject(row: row, field: name.string, kind: "the digits of \(object.className)"))
                }
            }
        }
        return found
    }
}

extension ArchiveValue {
    /// The value under which the store carries an object of a field of every item; nil if it cannot hold it.
    var carriedValue: PropertyListValue? { decimal?.propertyListValue }
}
