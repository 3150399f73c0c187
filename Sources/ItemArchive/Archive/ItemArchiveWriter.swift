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
        let inline = snapshot.fieldNames.map { schema.inlineFields.contains($0) }
        let foreign = try schema.foreignFields.objects()
        let archivedClass = ArchivedClass(schema.className, superclasses: schema.superclasses)
        let (valueIsObject, keylessItems, hasForeign) = (schema.valueIsObject, schema.keylessItems, !foreign.isEmpty)
        let hasKeyless = !keylessItems.isEmpty
        try archiver.encodeRecords(
            0..<snapshot.count, of: archivedClass, isMutable: schema.isMutableArray
        ) { index, archiver throws(ArchiveError) in
            expect(index + Self.lookahead, archiver)
            try snapshot.cell(index, .name).withText { text throws(ArchiveError) in
                try archiver.encode(utf8: text, forKey: name)
            }
            let serialNumber = snapshot.cell(index, .serialNumber)
            if serialNumber.isAbsent {
                try archiver.encode(String?.none, forKey: serial)
            } else {
                try serialNumber.withText { text throws(ArchiveError) in
                    try archiver.encode(utf8: text, forKey: serial)
                }
            }
            if valueIsObject {
                try archiver.encode(
                    PropertyListValue.integer(snapshot.cell(index, .valueInDollars).integerValue), forKey: value)
            } else {
                try archiver.encode(snapshot.cell(index, .valueInDollars).integerValue, forKey: value)
            }
            try archiver.encode(
                PropertyListDate(secondsSinceReferenceDate: snapshot.cell(index, .dateCreated).realValue), forKey: date)
            if hasKeyless, keylessItems.contains(snapshot.keyString(index)) {
                // The application's own key stays nil: ours has another name.
                try archiver.encode(String?.none, forKey: key)
                try archiver.encode(snapshot.keyString(index), forKey: "itemKey")
            } else {
                try encodeKey(index, key, archiver)
            }
            if hasForeign {
                let key = snapshot.keyString(index)
                try encode(
                    foreign.fields(ofItem: snapshot.source(ofCopy: key) ?? key), of: index, archiver)
            }
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
        archiver.expect(PropertyListDate(secondsSinceReferenceDate: snapshot.cell(index, .dateCreated).realValue))
    }

    /// Writes an item's objects of another application's classes, unless a custom field has replaced them.
    private func encode(
        _ foreign: [(name: String, value: ArchiveValue)], of index: Int, _ archiver: KeyedArchiver
    ) throws(ArchiveError) {
        guard !foreign.isEmpty else { return }
        var names: Set<String> = []
        snapshot.forEachCustomField(index) { field, _ in names.insert(snapshot.fieldNames[Int(field)]) }
        for (name, value) in foreign where !names.contains(name) {
            try archiver.encode(value, forKey: schema.archivedKey(ofField: name))
        }
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
            var entries: [String: PropertyListValue] = [:]
            for field in schema.fields { entries[field.key] = values.removeValue(forKey: field.name) }
            for (name, value) in values { entries[schema.archivedKey(ofField: name)] = value }
            items.append(.dictionary(entries))
        }
        return .array(items)
    }
}
