/// The values of a field in a batch of rows, as arrays: for a reader in C.
///
/// Texts are copied: the store may change while the batch is read.
package final class ScanLane {
    /// The kinds of values: those of SQLite, and two that the lane's owner turns into these.
    package enum Kind {
        package static let integer: UInt8 = 1, real: UInt8 = 2, text: UInt8 = 3, blob: UInt8 = 4, absent: UInt8 = 5
        /// The word is the bits of the seconds since the reference date.
        package static let date: UInt8 = 6
        /// A value in a box.
        package static let box: UInt8 = 7
    }

    /// The number of rows that a batch may have.
    package let capacity: Int
    package let kinds: UnsafeMutablePointer<UInt8>
    /// An integer, the bits of a real, or a place in the bytes.
    package let words: UnsafeMutablePointer<Int64>
    /// Of texts and blobs.
    package let lengths: UnsafeMutablePointer<UInt32>
    package private(set) var bytes: UnsafeMutablePointer<UInt8>?
    private var byteCapacity = 0
    private var byteCount = 0
    /// The bytes of a dictionary's texts, which come before those of the batch's rows.
    private var dictionaryBytes = 0
    private var dictionary: DictionaryLane?
    /// Whether some value is a date or in a box.
    package private(set) var needsConversion = false

    /// A dictionary's entries, by code.
    private struct DictionaryLane {
        let owner: CellDictionary
        let version: UInt64
        var entries: [(kind: UInt8, word: Int64, length: UInt32)] = []
        var needsConversion = false
    }

    /// The most entries of a dictionary whose texts are copied once for all batches.
    private static let dictionaryLimit = 4096

    /// Its memory in bytes.
    package var memory: Int { capacity * 13 + byteCapacity }

    package init(capacity: Int) {
        self.capacity = capacity
        kinds = .allocate(capacity: capacity)
        words = .allocate(capacity: capacity)
        lengths = .allocate(capacity: capacity)
        lengths.initialize(repeating: 0, count: capacity)
    }

    deinit {
        kinds.deallocate()
        words.deallocate()
        lengths.deallocate()
        bytes?.deallocate()
    }

    // MARK: Texts

    /// Sets a value to a text or a blob.
    package func set(_ place: Int, _ text: UnsafeBufferPointer<UInt8>, _ kind: UInt8 = Kind.text) {
        let start = append(text)
        (kinds[place], words[place], lengths[place]) = (kind, Int64(start), UInt32(truncatingIfNeeded: text.count))
    }

    @inline(__always)
    private func append(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        if byteCount + text.count > byteCapacity || bytes == nil { grow(by: text.count) }
        let start = byteCount
        if let source = text.baseAddress, let bytes {
            (bytes + start).update(from: source, count: text.count)
            byteCount = start + text.count
        }
        return start
    }

    private func grow(by count: Int) {
        byteCapacity = max(byteCapacity * 2, byteCount + count, 4096)
        let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: byteCapacity)
        if let bytes {
            fresh.update(from: bytes, count: byteCount)
            bytes.deallocate()
        }
        bytes = fresh
    }

    // MARK: Reading

    /// Reads a field of rows.
    ///
    /// - Parameters:
    ///   - field: the field.
    ///   - rows: at most as many as the lane's capacity.
    ///   - store: theirs.
    ///   - cellByCell: whether they are few: a column that is in a mapped archive is not read whole for them.
    package func read(
        _ field: ItemField, _ rows: UnsafeBufferPointer<UInt32>, _ store: ColumnStore, cellByCell: Bool = false
    ) {
        byteCount = dictionaryBytes
        needsConversion = false
        let view = cellByCell ? ColumnView.rows : store.view(field)
        switch view {
        case .absent: for place in rows.indices { kinds[place] = Kind.absent }
        case .numbers(let numbers): read(numbers, rows)
        case .codes(let codes, let dictionary):
            if dictionary.count > Self.dictionaryLimit {
                let cells = dictionary.cells
                cells.withUnsafeBufferPointer { cells in
                    guard let cells = cells.baseAddress else { return }
                    for place in rows.indices { set(place, cells + Int(codes[Int(rows[place])])) }
                }
            } else {
                read(codes, dictionary, rows, store)
            }
        case .cells(let cells):
            for place in rows.indices {
                if place + SelectionVector.lookahead < rows.count {
                    cells[Int(rows[place + SelectionVector.lookahead])].prefetchText()
                }
                set(place, cells + Int(rows[place]))
            }
        case .mappedTexts(let column):
            column.cells.materialiseTexts(UnsafeMutableBufferPointer(mutating: rows))
            for place in rows.indices { set(place, column.cells.pointer(rows[place])) }
        case .rows:
            for place in rows.indices {
                if field == store.table.keyField {
                    store.table.withKey(rows[place]) { set(place, $0) }
                } else {
                    var cell = store.table.cell(rows[place], field)
                    set(place, &cell)
                }
            }
        }
    }

    private func read(_ numbers: NumberView, _ rows: UnsafeBufferPointer<UInt32>) {
        let integers = numbers.integers
        switch numbers.kind {
        case .real:
            for place in rows.indices {
                let row = rows[place]
                words[place] = integers[Int(row)]
                kinds[place] = numbers.isPresent(row) ? Kind.real : Kind.absent
                if numbers.isIntegral(row), kinds[place] == Kind.real {
                    kinds[place] = Kind.integer
                    words[place] = Int64(numbers.reals[Int(row)])
                }
            }
        default:
            needsConversion = numbers.kind != .integer
            let kind = needsConversion ? Kind.date : Kind.integer
            for place in rows.indices {
                kinds[place] = numbers.isPresent(rows[place]) ? kind : Kind.absent
                words[place] = integers[Int(rows[place])]
            }
        }
    }

    private func read(
        _ codes: UnsafePointer<UInt32>, _ dictionary: CellDictionary, _ rows: UnsafeBufferPointer<UInt32>,
        _ store: ColumnStore
    ) {
        if self.dictionary?.owner !== dictionary || self.dictionary?.version != store.version {
            makeDictionary(dictionary, store.version)
        }
        guard let lane = self.dictionary else { return }
        needsConversion = lane.needsConversion
        lane.entries.withUnsafeBufferPointer { entries in
            for place in rows.indices {
                (kinds[place], words[place], lengths[place]) = entries[Int(codes[Int(rows[place])])]
            }
        }
    }

    private func makeDictionary(_ dictionary: CellDictionary, _ version: UInt64) {
        var lane = DictionaryLane(owner: dictionary, version: version)
        byteCount = 0
        for cell in dictionary.cells {
            var cell = cell
            set(0, &cell)
            lane.entries.append((kinds[0], words[0], lengths[0]))
        }
        lane.needsConversion = needsConversion
        dictionaryBytes = byteCount
        self.dictionary = lane
    }

    @inline(__always)
    private func set(_ place: Int, _ cell: UnsafePointer<Cell>) {
        switch cell.pointee.kind {
        case .shortText, .longText: set(place, Cell.text(at: cell))
        case .integer: (kinds[place], words[place]) = (Kind.integer, cell.pointee.integerValue)
        case .real: (kinds[place], words[place]) = (Kind.real, Int64(bitPattern: cell.pointee.tail))
        case .absent: kinds[place] = Kind.absent
        case .no, .yes: (kinds[place], words[place]) = (Kind.integer, cell.pointee.kind == .yes ? 1 : 0)
        case .single:
            (kinds[place], words[place]) = (Kind.real, Int64(bitPattern: CellOrder.number(cell.pointee).bitPattern))
        case .date: setUnread(place, Kind.date, cell.pointee)
        case .box: setUnread(place, Kind.box, cell.pointee)
        }
    }

    private func setUnread(_ place: Int, _ kind: UInt8, _ cell: Cell) {
        needsConversion = true
        (kinds[place], words[place]) = (kind, Int64(bitPattern: cell.tail))
    }

    /// Marks the rows that have left the store since the batch was found.
    package func clear(_ place: Int) { kinds[place] = Kind.absent }
}
