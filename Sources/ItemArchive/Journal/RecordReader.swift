import CPlatform
package import ColumnEngine
package import PropertyList

/// Decodes the parts of records: numbers, texts, values. The bytes are not trusted: each step is checked.
package struct RecordReader {
    package let bytes: UnsafeRawBufferPointer
    package private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var isAtEnd: Bool { offset >= bytes.count }

    /// Goes back by one byte.
    package mutating func stepBack() { offset -= 1 }

    // MARK: Values

    /// A value; the code for an absent value is malformed here.
    package mutating func value() throws(StoreError) -> PropertyListValue { try value(depth: 0) }

    private mutating func value(depth: Int) throws(StoreError) -> PropertyListValue {
        // One more than fields accept, for values from an archive.
        guard depth <= FieldValidation.depthLimit + 1 else { throw corrupt("a value nests too deep") }
        guard cubby_stack_is_short() == 0 else { throw corrupt("a value nests deeper than the thread's stack allows") }
        switch JournalCode.Value(rawValue: try byte()) {
        case .no: return .boolean(false)
        case .yes: return .boolean(true)
        case .integer: return .integer(try signed())
        case .real: return .real(Double(bitPattern: try fixed(UInt64.self)))
        case .single: return .single(Float(bitPattern: try fixed(UInt32.self)))
        case .date:
            let seconds = Double(bitPattern: try fixed(UInt64.self))
            guard seconds.isFinite else { throw corrupt("a date is none") }
            return .date(PropertyListDate(secondsSinceReferenceDate: seconds))
        case .string: return .string(try string())
        case .data: return .data([UInt8](try piece(try varint())))
        case .wideInteger:
            let low = Int128(try fixed(UInt64.self))
            return .wideInteger(Int128(Int64(bitPattern: try fixed(UInt64.self))) << 64 | low)
        case .null: return .null
        case .uid: return .uid(UInt32(truncatingIfNeeded: try varint()))
        case .array: return .array(try list(depth))
        case .set: return .set(try list(depth))
        case .dictionary:
            let count = try count()
            var entries: PropertyListFields = [:]
            entries.reserveCapacity(min(count, 1024))
            for _ in 0..<count {
                let key = try string()
                entries[key] = try value(depth: depth + 1)
            }
            return .fields(entries)
        case .pairs:
            let count = try count()
            var entries = PropertyListDictionary()
            for _ in 0..<count {
                let key = try value(depth: depth + 1)
                entries[key] = try value(depth: depth + 1)
            }
            return .dictionary(entries)
        case .utf16:
            let count = try count()
            var units: [UInt16] = []
            units.reserveCapacity(min(count, 1024))
            for _ in 0..<count { units.append(try fixed(UInt16.self)) }
            return PropertyListValue(utf16: units)
        case .absent, nil: throw corrupt("a value of an unknown kind")
        }
    }

    private mutating func list(_ depth: Int) throws(StoreError) -> [PropertyListValue] {
        let count = try count()
        var elements: [PropertyListValue] = []
        elements.reserveCapacity(min(count, 1024))
        for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
        return elements
    }

    // MARK: Bytes

    package mutating func byte() throws(StoreError) -> UInt8 {
        guard offset < bytes.count else { throw corrupt("the record ends too early") }
        offset += 1
        return bytes[offset - 1]
    }

    package mutating func varint() throws(StoreError) -> UInt64 {
        var decoder = Varint()
        while true {
            switch decoder.take(try byte()) {
            case .more: continue
            case .number(let number): return number
            case .overflow: throw corrupt("a number is too long")
            }
        }
    }

    /// A number of parts, each of which takes at least one byte.
    package mutating func count() throws(StoreError) -> Int {
        let count = try varint()
        guard count <= UInt64(bytes.count - offset) else { throw corrupt("there are more parts than bytes") }
        return Int(count)
    }

    package mutating func signed() throws(StoreError) -> Int64 {
        Varint.signed(try varint())
    }

    package mutating func fixed<Number: FixedWidthInteger>(_ type: Number.Type) throws(StoreError) -> Number {
        let piece = try piece(UInt64(MemoryLayout<Number>.size))
        return Number(littleEndian: piece.loadUnaligned(as: Number.self))
    }

    package mutating func piece(_ count: UInt64) throws(StoreError) -> UnsafeRawBufferPointer {
        guard count <= UInt64(bytes.count - offset) else { throw corrupt("the record ends too early") }
        let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
        offset += Int(count)
        return piece
    }

    /// The bytes up to the end.
    package mutating func rest() throws(StoreError) -> UnsafeRawBufferPointer {
        try piece(UInt64(bytes.count - offset))
    }

    package mutating func text() throws(StoreError) -> UnsafeBufferPointer<UInt8> {
        let text = try piece(try varint()).assumingMemoryBound(to: UInt8.self)
        guard UTF8Check.isValid(text) else { throw corrupt("a text is not UTF-8") }
        return text
    }

    package mutating func string() throws(StoreError) -> String {
        String(decoding: try text(), as: UTF8.self)
    }

    package func corrupt(_ what: String) -> StoreError {
        StoreError(.corruptJournal, "\(what), at byte \(offset) of a record")
    }
}

/// One change of a record: of a file's journal, or of the log of a shared collection.
package enum RecordChange: Sendable {
    case insert(key: String, PropertyListFields, at: Int?)
    case remove(key: String)
    case set(key: String, field: String, PropertyListValue?)
    case move(key: String, to: Int)
    case rank(key: String, [UInt8])
    case declare(FieldDeclarations)

    package enum Origin: Sendable {
        /// Items have positions, and keys may come with places in the archive.
        case journal
        /// Items have ranks.
        case log
    }

    /// Maximum length of a rank in bytes.
    package static let rankLimit = 4096

    /// Decodes the changes of a record of a schema's items. Its bytes are untrusted: each step is checked.
    ///
    /// - Throws: `StoreError` with `corruptJournal`.
    package static func changes(
        of record: UnsafeRawBufferPointer, _ schema: ItemSchema, from origin: Origin = .log
    ) throws(StoreError) -> [RecordChange] {
        var reader = RecordReader(record)
        var names = schema.names
        var changes: [RecordChange] = []
        while !reader.isAtEnd {
            let code = JournalCode.Change(rawValue: try reader.byte())
            switch (code, origin) {
            case (.append, _), (.appendCarrying, _), (.insert, .journal), (.insertCarrying, .journal):
                let position = code == .insert || code == .insertCarrying ? try position(&reader) : nil
                let carries = code == .appendCarrying || code == .insertCarrying
                changes.append(try insertion(&reader, schema, names, at: position, carries: carries))
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
            case (.declare, _): changes.append(.declare(try FieldDeclarations(record: try reader.value())))
            case (.rank, .log):
                let key = try key(&reader)
                let rank = [UInt8](try reader.piece(try reader.varint()))
                guard !rank.isEmpty, rank.count <= rankLimit else { throw reader.corrupt("a rank is none") }
                changes.append(.rank(key: key, rank))
            case (.defineField, _):
                let name = try reader.string()
                guard (try? FieldValidation.checkStoredName(name)) != nil, !schema.has(name) else {
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
        _ reader: inout RecordReader, _ schema: ItemSchema, _ names: [String], at position: Int?, carries: Bool
    ) throws(StoreError) -> RecordChange {
        let key = try key(&reader)
        var values: PropertyListFields = ["itemKey": .string(key)]
        for field in schema.fields {
            switch field.kind.kind {
            case .integer where !carries: values[field.name] = .integer(try reader.signed())
            case .date where !carries:
                let seconds = Double(bitPattern: try reader.fixed(UInt64.self))
                guard seconds.isFinite else { throw reader.corrupt("a \(field.name) is not a date") }
                values[field.name] = .date(PropertyListDate(secondsSinceReferenceDate: seconds))
            default:
                // Null marks a field that the item lacks, though new items have it.
                values[field.name] = try value(&reader) ?? (carries && !field.kind.isOptional ? .null : nil)
            }
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
