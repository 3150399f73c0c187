import ColumnEngine
import ItemArchive
import PropertyList

/// One change of a record of the log.
enum SharedChange: Sendable {
    case insert(key: String, [String: PropertyListValue])
    case remove(key: String)
    case set(key: String, field: String, PropertyListValue?)
    case rank(key: String, [UInt8])

    /// The changes of a record, which is bytes from outside: each step is checked.
    ///
    /// - Throws: `StoreError` with `corruptJournal`.
    static func changes(of record: UnsafeRawBufferPointer) throws(StoreError) -> [SharedChange] {
        var reader = RecordReader(record)
        var names = [FieldDeclaration].domain.map(\.name) + ["itemKey"]
        var changes: [SharedChange] = []
        while !reader.isAtEnd {
            switch JournalCode.Change(rawValue: try reader.byte()) {
            case .append: changes.append(try insertion(&reader, names))
            case .remove: changes.append(.remove(key: try key(&reader)))
            case .set:
                let key = try key(&reader)
                changes.append(.set(key: key, field: try name(&reader, names), try value(&reader)))
            case .rank:
                let key = try key(&reader)
                let rank = [UInt8](try reader.piece(try reader.varint()))
                guard !rank.isEmpty, rank.count <= Rank.lengthLimit else { throw reader.corrupt("a rank is none") }
                changes.append(.rank(key: key, rank))
            case .defineField:
                let name = try reader.string()
                guard (try? FieldValidation.checkKeptName(name)) != nil, !names.prefix(5).contains(name) else {
                    throw reader.corrupt("a field has no usable name")
                }
                names.append(name)
            case .insert, .move, .copy, nil: throw reader.corrupt("an unknown change")
            }
        }
        return changes
    }

    private static func insertion(_ reader: inout RecordReader, _ names: [String]) throws(StoreError) -> SharedChange {
        let key = try key(&reader)
        var values: [String: PropertyListValue] = ["itemKey": .string(key)]
        values["name"] = try value(&reader)
        values["serialNumber"] = try value(&reader)
        values["valueInDollars"] = .integer(try reader.signed())
        let seconds = Double(bitPattern: try reader.fixed(UInt64.self))
        guard seconds.isFinite else { throw reader.corrupt("a dateCreated is no date") }
        values["dateCreated"] = .date(PropertyListDate(secondsSinceReferenceDate: seconds))
        for _ in 0..<(try reader.count()) { values[try name(&reader, names)] = try value(&reader) }
        return .insert(key: key, values)
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

    /// The key that some bytes of a record are.
    static func key(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> String {
        var reader = RecordReader(bytes)
        return try key(&reader)
    }

    private static func key(_ reader: inout RecordReader) throws(StoreError) -> String {
        switch JournalCode.Key(rawValue: try reader.byte()) {
        case .uuid:
            let high = try reader.fixed(UInt64.self).byteSwapped
            return PackedKey(high: high, low: try reader.fixed(UInt64.self).byteSwapped).uuidString
        case .text:
            let key = try reader.string()
            guard !key.isEmpty else { throw reader.corrupt("a key is empty") }
            return key
        case .placedUUID, nil: throw reader.corrupt("a key of an unknown kind")
        }
    }
}
