import CPlatform
import ColumnEngine
import PropertyList

/// Applies the bytes of one commit to a store. The bytes may be anything: each step is checked.
struct JournalDecoder {
    private let loader: ItemLoader
    private let store: ColumnStore
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// The store's fields by their numbers in this record.
    private var recordFields: [ItemField] = ItemField.domain
    /// Whether a change that finds no item to change is passed over: the archive lost some.
    private let isTolerant: Bool
    /// The rows below had, after loading, the items that the archive has in their places.
    private let placeLimit: UInt32
    /// The changes that were passed over.
    private(set) var skipped = 0

    init(_ loader: ItemLoader, _ bytes: UnsafeRawBufferPointer, isTolerant: Bool = false) {
        self.loader = loader
        self.isTolerant = isTolerant
        placeLimit = loader.store.placeLimit
        store = loader.store
        self.bytes = bytes
    }

    mutating func replay() throws(StoreError) {
        while offset < bytes.count {
            switch JournalCode.Change(rawValue: try byte()) {
            case .append: try insertion(at: nil)
            case .insert:
                let position = try varint()
                guard position <= UInt64(store.count) || isTolerant else {
                    throw corrupt("an item is inserted past the end")
                }
                try insertion(at: Int(min(position, UInt64(store.count))))
            case .remove:
                if let row = try existingRow() { store.takeOut(row) }
            case .set: try setField()
            case .move:
                let row = try existingRow()
                var position = try varint()
                guard let row else { continue }
                guard position < UInt64(store.count) || isTolerant else {
                    throw corrupt("an item is moved past the end")
                }
                position = min(position, UInt64(store.count - 1))
                let from = store.position(of: row)
                if from != Int(position) { store.move(from: from, to: Int(position)) }
            case .defineField:
                let name = try string()
                guard (try? FieldValidation.checkName(name)) != nil else { throw corrupt("a field has no usable name") }
                let field = store.field(named: name)
                guard field.isCustom else { throw corrupt("the field \(name) is defined twice") }
                recordFields.append(field)
            case .copy:
                let row = try existingRow()
                let source = try string()
                if let row { store.noteCopy(of: source, as: store.keyString(row)) }
            case nil:
                offset -= 1
                throw corrupt("an unknown change")
            }
        }
    }

    private mutating func insertion(at position: Int?) throws(StoreError) {
        let draft = loader.makeDraft()
        do throws(StoreError) {
            try readKey(into: draft)
            try fill(draft)
            try loader.insert(draft)
        } catch {
            draft.discard()
            if isTolerant, case .duplicateKey = error.code {
                skipped += 1
                return
            }
            throw error
        }
        store.noteAppended(draft.row)
        if let position, position < store.count - 1 {
            store.move(from: store.count - 1, to: position)
        }
    }

    private mutating func fill(_ draft: ItemDraft) throws(StoreError) {
        let row = draft.row
        let name = try cell()
        guard name.isText else { throw corrupt("a name is no text") }
        store.setCell(row, .name, name)
        let serial = try cell()
        guard serial.isText || serial.isAbsent else { throw corrupt("a serialNumber is no text") }
        store.setCell(row, .serialNumber, serial)
        store.setCell(row, .valueInDollars, .integer(try signed()))
        let date = Double(bitPattern: try fixed(UInt64.self))
        guard date.isFinite else { throw corrupt("a dateCreated is no date") }
        store.setCell(row, .dateCreated, .date(date))
        let count = try varint()
        guard count <= UInt64(bytes.count - offset) else { throw corrupt("an item has more fields than bytes") }
        for _ in 0..<count {
            let field = try field()
            guard field.isCustom else { throw corrupt("a custom field has the number of another") }
            store.setCell(row, field, try cell())
        }
    }

    private mutating func setField() throws(StoreError) {
        let row = try existingRow()
        let field = try field()
        let cell = try cell()
        guard store.takes(cell, field) else { throw corrupt("\(store.name(of: field)) cannot hold its value") }
        if let row { store.replayChange(row, field, to: cell) } else { store.discard(cell) }
    }

    // MARK: Parts

    private mutating func field() throws(StoreError) -> ItemField {
        let number = try varint()
        guard number < UInt64(recordFields.count) else { throw corrupt("a field was never named") }
        return recordFields[Int(number)]
    }

    /// The row that a change is about; nil when it is passed over.
    private mutating func existingRow() throws(StoreError) -> UInt32? {
        let row: UInt32?
        switch JournalCode.Key(rawValue: try byte()) {
        case .uuid:
            let key = try packedKey()
            row = store.row(forKey: key)
        case .placedUUID:
            let key = try packedKey()
            let place = try varint()
            // A row that was never given back has the archive's item: neither index nor archive is looked into.
            if place < UInt64(placeLimit), store.generation(UInt32(place)) == 0,
                store.isLive(UInt32(place))
            {
                row = UInt32(place)
            } else {
                row = store.row(forKey: key)
            }
        case .text: row = store.row(forKey: try text())
        case nil: throw corrupt("a key of an unknown kind")
        }
        if row == nil {
            guard isTolerant else { throw corrupt("a change is about an item that is not there") }
            skipped += 1
        }
        return row
    }

    private mutating func readKey(into draft: ItemDraft) throws(StoreError) {
        switch JournalCode.Key(rawValue: try byte()) {
        case .uuid: store.setKey(draft.row, try packedKey())
        case .text:
            let bytes = try text()
            guard !bytes.isEmpty else { throw corrupt("a key is empty") }
            try draft.setUTF8(bytes, for: .itemKey)
        case .placedUUID: throw corrupt("a new item has a place in the archive")
        case nil: throw corrupt("a key of an unknown kind")
        }
    }

    private mutating func packedKey() throws(StoreError) -> PackedKey {
        let high = try fixed(UInt64.self).byteSwapped
        return PackedKey(high: high, low: try fixed(UInt64.self).byteSwapped)
    }

    private mutating func cell() throws(StoreError) -> Cell {
        let start = offset
        switch JournalCode.Value(rawValue: try byte()) {
        case .absent: return .absent
        case .string: return store.text(try text())
        default:
            offset = start
            return store.cell(try value(depth: 0))
        }
    }

    private mutating func value(depth: Int) throws(StoreError) -> PropertyListValue {
        // One more than fields take, for values that an archive brought.
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
            var entries: [String: PropertyListValue] = [:]
            entries.reserveCapacity(min(count, 1024))
            for _ in 0..<count {
                let key = try string()
                entries[key] = try value(depth: depth + 1)
            }
            return .dictionary(entries)
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

    private mutating func byte() throws(StoreError) -> UInt8 {
        guard offset < bytes.count else { throw corrupt("the record ends too early") }
        offset += 1
        return bytes[offset - 1]
    }

    private mutating func varint() throws(StoreError) -> UInt64 {
        var decoder = Varint()
        while true {
            switch decoder.take(try byte()) {
            case .more: continue
            case .number(let number): return number
            case .overflow: throw corrupt("a number is too long")
            }
        }
    }

    private mutating func count() throws(StoreError) -> Int {
        let count = try varint()
        guard count <= UInt64(bytes.count - offset) else { throw corrupt("a value has more elements than bytes") }
        return Int(count)
    }

    private mutating func signed() throws(StoreError) -> Int64 {
        Varint.signed(try varint())
    }

    private mutating func fixed<Number: FixedWidthInteger>(_ type: Number.Type) throws(StoreError) -> Number {
        let piece = try piece(UInt64(MemoryLayout<Number>.size))
        return Number(littleEndian: piece.loadUnaligned(as: Number.self))
    }

    private mutating func piece(_ count: UInt64) throws(StoreError) -> UnsafeRawBufferPointer {
        guard count <= UInt64(bytes.count - offset) else { throw corrupt("the record ends too early") }
        let piece = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
        offset += Int(count)
        return piece
    }

    private mutating func text() throws(StoreError) -> UnsafeBufferPointer<UInt8> {
        let text = try piece(try varint()).assumingMemoryBound(to: UInt8.self)
        guard UTF8Check.isValid(text) else { throw corrupt("a text is not UTF-8") }
        return text
    }

    private mutating func string() throws(StoreError) -> String {
        String(decoding: try text(), as: UTF8.self)
    }

    private func corrupt(_ what: String) -> StoreError {
        StoreError(.corruptJournal, "\(what), at byte \(offset) of a journal's record")
    }
}
