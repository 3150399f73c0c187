package import ColumnEngine
import PropertyList

/// Applies the bytes of one commit to a store. The bytes are not trusted: each step is checked.
struct JournalDecoder {
    private let loader: ItemLoader
    private let store: ColumnStore
    private var reader: RecordReader
    /// The store's fields by their numbers in this record.
    private var recordFields: [ItemField]
    /// Whether to skip a change of a missing item: the archive lost some.
    private let isTolerant: Bool
    /// After loading, the rows below this one had the archive's items of the same index.
    private let placeLimit: UInt32
    /// The number of skipped changes.
    private(set) var skipped = 0

    init(_ loader: ItemLoader, _ bytes: UnsafeRawBufferPointer, isTolerant: Bool = false) {
        self.loader = loader
        self.isTolerant = isTolerant
        placeLimit = loader.store.placeLimit
        store = loader.store
        recordFields = store.schema.numbers
        reader = RecordReader(bytes)
    }

    mutating func replay() throws(StoreError) {
        while !reader.isAtEnd {
            let code = JournalCode.Change(rawValue: try reader.byte())
            switch code {
            case .append, .appendCarrying: try insertion(at: nil, carries: code == .appendCarrying)
            case .insert, .insertCarrying:
                let position = try reader.varint()
                guard position <= UInt64(store.count) || isTolerant else {
                    throw corrupt("an item is inserted past the end")
                }
                try insertion(at: Int(min(position, UInt64(store.count))), carries: code == .insertCarrying)
            case .remove:
                if let row = try existingRow() { store.takeOut(row) }
            case .set: try setField()
            case .move:
                let row = try existingRow()
                var position = try reader.varint()
                guard let row else { continue }
                guard position < UInt64(store.count) || isTolerant else {
                    throw corrupt("an item is moved past the end")
                }
                position = min(position, UInt64(store.count - 1))
                let from = store.position(of: row)
                if from != Int(position) { store.move(from: from, to: Int(position)) }
            case .defineField:
                let name = try reader.string()
                guard (try? FieldValidation.checkStoredName(name)) != nil else {
                    throw corrupt("a field has no usable name")
                }
                let field = store.field(named: name)
                guard store.isCustom(field) else { throw corrupt("the field \(name) is defined twice") }
                recordFields.append(field)
            case .copy:
                let row = try existingRow()
                let source = try reader.string()
                if let row { store.document.recordCopy(of: source, as: store.keyString(row)) }
            case .declare: store.declare(try FieldDeclarations(record: try reader.value()))
            case .rank, nil:
                reader.stepBack()
                throw corrupt("an unknown change")
            }
        }
    }

    /// Adds an item, whose fields may be of any kind if it `carries`.
    private mutating func insertion(at position: Int?, carries: Bool) throws(StoreError) {
        let draft = loader.makeDraft()
        do throws(StoreError) {
            try readKey(into: draft)
            try fill(draft, carries)
            try loader.insert(draft)
        } catch {
            draft.discard()
            if isTolerant, case .duplicateKey = error.code {
                skipped += 1
                return
            }
            throw error
        }
        store.recordAppended(draft.row)
        if let position, position < store.count - 1 {
            store.move(from: store.count - 1, to: position)
        }
    }

    private mutating func fill(_ draft: ItemDraft, _ carries: Bool) throws(StoreError) {
        let row = draft.row
        for (number, kind) in store.schema.kinds.enumerated() {
            let field = ItemField(rawValue: UInt32(number))
            store.setCell(row, field, try carries ? cell() : cell(of: kind, field))
        }
        let count = try reader.varint()
        for _ in 0..<count {
            let field = try field()
            guard store.isCustom(field) else { throw corrupt("a custom field has the number of another") }
            store.setCell(row, field, try cell())
        }
    }

    private mutating func setField() throws(StoreError) {
        let row = try existingRow()
        let field = try field()
        let cell = try cell()
        guard field != store.keyField else { throw corrupt("an itemKey cannot change") }
        if let row { store.replayChange(row, field, to: cell) } else { store.discard(cell) }
    }

    // MARK: Parts

    private mutating func field() throws(StoreError) -> ItemField {
        let number = try reader.varint()
        guard number < UInt64(recordFields.count) else { throw corrupt("a field was never named") }
        return recordFields[Int(number)]
    }

    /// The row of a changed item; nil if the change is skipped.
    private mutating func existingRow() throws(StoreError) -> UInt32? {
        let row: UInt32?
        switch JournalCode.Key(rawValue: try reader.byte()) {
        case .uuid:
            let key = try packedKey()
            row = store.row(forKey: key)
        case .placedUUID:
            let key = try packedKey()
            let place = try reader.varint()
            // A row that was never freed has the archive's item: no look-up in the index or the archive.
            if place < UInt64(placeLimit), store.generation(UInt32(place)) == 0,
                store.isLive(UInt32(place))
            {
                row = UInt32(place)
            } else {
                row = store.row(forKey: key)
            }
        case .text: row = store.row(forKey: try reader.text())
        case nil: throw corrupt("a key of an unknown kind")
        }
        if row == nil {
            guard isTolerant else { throw corrupt("a change is about an item that is not there") }
            skipped += 1
        }
        return row
    }

    private mutating func readKey(into draft: ItemDraft) throws(StoreError) {
        switch JournalCode.Key(rawValue: try reader.byte()) {
        case .uuid: store.setKey(draft.row, try packedKey())
        case .text:
            let bytes = try reader.text()
            guard !bytes.isEmpty else { throw corrupt("a key is empty") }
            try draft.setUTF8(bytes, for: store.keyField)
        case .placedUUID: throw corrupt("a new item has a place in the archive")
        case nil: throw corrupt("a key of an unknown kind")
        }
    }

    private mutating func packedKey() throws(StoreError) -> PackedKey {
        let high = try reader.fixed(UInt64.self).byteSwapped
        return PackedKey(high: high, low: try reader.fixed(UInt64.self).byteSwapped)
    }

    private mutating func cell() throws(StoreError) -> Cell {
        switch JournalCode.Value(rawValue: try reader.byte()) {
        case .absent: return .absent
        case .string: return store.text(try reader.text())
        default:
            reader.stepBack()
            return store.cell(try reader.value())
        }
    }

    /// A value of a field's kind, which has no code if that is a number's or a date's.
    private mutating func cell(of kind: DeclaredKind, _ field: ItemField) throws(StoreError) -> Cell {
        switch kind.kind {
        case .integer: return .integer(try reader.signed())
        case .date:
            let date = Double(bitPattern: try reader.fixed(UInt64.self))
            guard date.isFinite else { throw corrupt("a \(store.name(of: field)) is not a date") }
            return .date(date)
        case .text, .mixed:
            let cell = try cell()
            guard kind.accepts(cell) else { throw corrupt("a \(store.name(of: field)) is not a text") }
            return cell
        }
    }

    private func corrupt(_ what: String) -> StoreError { reader.corrupt(what) }
}

extension ItemLoader {
    /// Adds the items of a record of insertions, and returns the last one's row.
    ///
    /// - Throws: `StoreError` with `corruptJournal`: the bytes are not trusted. The store is then unchanged.
    package func addRecord(_ record: UnsafeRawBufferPointer) throws(StoreError) -> UInt32 {
        let count = store.count
        var decoder = JournalDecoder(self, record)
        try replaying { () throws(StoreError) in
            try decoder.replay()
            guard store.count == count + 1 else {
                throw StoreError(.corruptJournal, "an item's record has \(store.count - count) items")
            }
        }
        return store.row(at: count)
    }
}

extension ItemLoader {
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
