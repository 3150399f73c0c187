package import ColumnEngine
package import PropertyList

/// One change of a record: of a file's journal, or of the log of a shared collection.
package enum RecordChange: Sendable {
    case insert(key: String, PropertyListFields, at: Int?)
    case remove(key: String)
    case set(key: String, field: String, PropertyListValue?)
    case move(key: String, to: Int)
    case rank(key: String, [UInt8])

    package enum Origin: Sendable {
        /// Items have positions, and keys may come with places in the archive.
        case journal
        /// Items have ranks.
        case log
    }

    /// Maximum length of a rank in bytes.
    package static let rankLimit = 4096

    /// Decodes the changes of a record. Its bytes are untrusted: each step is checked.
    ///
    /// - Throws: `StoreError` with `corruptJournal`.
    package static func changes(
        of record: UnsafeRawBufferPointer, from origin: Origin = .log
    ) throws(StoreError) -> [RecordChange] {
        var reader = RecordReader(record)
        var names = [FieldDeclaration].domain.map(\.name) + ["itemKey"]
        var changes: [RecordChange] = []
        while !reader.isAtEnd {
            switch (JournalCode.Change(rawValue: try reader.byte()), origin) {
            case (.append, _): changes.append(try insertion(&reader, names, at: nil))
            case (.appendCarrying, _): changes.append(try insertion(&reader, names, at: nil, carries: true))
            case (.insert, .journal):
                let position = try position(&reader)
                changes.append(try insertion(&reader, names, at: position))
            case (.insertCarrying, .journal):
                let position = try position(&reader)
                changes.append(try insertion(&reader, names, at: position, carries: true))
            case (.remove, _): changes.append(.remove(key: try key(&reader, origin)))
            case (.set, _):
                let key = try key(&reader, origin)
                changes.append(.set(key: key, field: try name(&reader, names), try value(&reader)))
            case (.move, .journal):
                let key = try key(&reader, origin)
                changes.append(.move(key: key, to: try position(&reader)))
            case (.copy, .journal):
                // The source of a copied item matters only for writing the archive.
                _ = try key(&reader, origin)
                _ = try reader.string()
            case (.rank, .log):
                let key = try key(&reader)
                let rank = [UInt8](try reader.piece(try reader.varint()))
                guard !rank.isEmpty, rank.count <= rankLimit else { throw reader.corrupt("a rank is none") }
                changes.append(.rank(key: key, rank))
            case (.defineField, _):
                let name = try reader.string()
                guard (try? FieldValidation.checkKeptName(name)) != nil, !names.prefix(5).contains(name) else {
                    throw reader.corrupt("a field has no usable name")
                }
                names.append(name)
            case (.insert, .log), (.insertCarrying, .log), (.move, .log), (.copy, .log), (.rank, .journal), (nil, _):
                throw reader.corrupt("an unknown change")
            }
        }
        return changes
    }

    private static func position(_ reader: inout RecordReader) throws(StoreError) -> Int {
        guard let position = Int(exactly: try reader.varint()) else { throw reader.corrupt("a position is too large") }
        return position
    }

    private static func insertion(
        _ reader: inout RecordReader, _ names: [String], at position: Int?, carries: Bool = false
    ) throws(StoreError) -> RecordChange {
        let key = try key(&reader)
        var values: PropertyListFields = ["itemKey": .string(key)]
        // Null marks a field that the item lacks, though new items have it.
        values["name"] = try value(&reader) ?? (carries ? .null : nil)
        values["serialNumber"] = try value(&reader)
        if carries {
            values["valueInDollars"] = try value(&reader) ?? .null
            values["dateCreated"] = try value(&reader) ?? .null
        } else {
            values["valueInDollars"] = .integer(try reader.signed())
            let seconds = Double(bitPattern: try reader.fixed(UInt64.self))
            guard seconds.isFinite else { throw reader.corrupt("a dateCreated is not a date") }
            values["dateCreated"] = .date(PropertyListDate(secondsSinceReferenceDate: seconds))
        }
        for _ in 0..<(try reader.count()) { values[try name(&reader, names)] = try value(&reader) }
        return .insert(key: key, values, at: position)
    }

    private static func name(_ reader: inout RecordReader, _ names: [String]) throws(StoreError) -> String {
        let number = try reader.varint()
        guard number < UInt64(names.count), names[Int(number)] != "itemKey" else {
            throw reader.corrupt("a field was never named")
        }
        return names[Int(number)]
    }

    private static func value(_ reader: inout RecordReader) throws(StoreError) -> PropertyListValue? {
        if JournalCode.Value(rawValue: try reader.byte()) == .absent { return nil }
        reader.stepBack()
        return try reader.value()
    }

    /// Decodes a key from bytes of a record.
    package static func key(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> String {
        var reader = RecordReader(bytes)
        return try key(&reader)
    }

    private static func key(_ reader: inout RecordReader, _ origin: Origin = .log) throws(StoreError) -> String {
        let kind = JournalCode.Key(rawValue: try reader.byte())
        switch kind {
        case .uuid, .placedUUID:
            guard kind == .uuid || origin == .journal else { throw reader.corrupt("a key of an unknown kind") }
            let high = try reader.fixed(UInt64.self).byteSwapped
            let key = PackedKey(high: high, low: try reader.fixed(UInt64.self).byteSwapped)
            if kind == .placedUUID { _ = try reader.varint() }
            return key.uuidString
        case .text:
            let key = try reader.string()
            guard !key.isEmpty else { throw reader.corrupt("a key is empty") }
            return key
        case nil: throw reader.corrupt("a key of an unknown kind")
        }
    }
}
