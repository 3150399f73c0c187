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
