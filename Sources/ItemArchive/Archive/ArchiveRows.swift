import ColumnEngine
import Files
import PropertyList
import Synchronization

/// Reads elements of columns from the archive at their first access.
///
/// The archive was valid when it was written, but bytes on a disk can change. An unreadable element reads as an empty
/// field, is recorded in ``damage``, and makes the store keep the archive before replacing it.
final class ArchiveRows: RowSource {
    private var items: MappedItems
    private let schema: ItemSchema
    /// By number of a declared field, the index's copy of its integers, if it has a usable one.
    private let numbers: [MappedNumbers?]
    let values: FaultedValues
    /// What was unreadable, here or in a copy.
    private let damage: ArchiveDamage
    /// Called with each new entry of ``damage``; nil in a copy, which another thread reads.
    var onDamage: ((String) -> Void)?

    init(
        _ items: MappedItems, _ values: FaultedValues? = nil, numbers: [MappedNumbers?] = [], _ damage: ArchiveDamage
    ) {
        self.damage = damage
        self.items = items
        schema = items.schema.schema
        self.numbers = numbers
        self.values = values ?? FaultedValues(mapped: items.range)
    }

    func copy() -> any RowSource { ArchiveRows(items, values.copy(), damage) }

    var isDamaged: Bool { damage.isFound }

    /// Reads one element of a column into its place: a whole cell for texts, a word for numbers and dates.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer) {
        let number = Int(row)
        do throws(PropertyListError) {
            switch column {
            case .field(let field) where schema.kinds[Int(field.rawValue)].kind == .text:
                element.storeBytes(of: cell(row, of: field), as: Cell.self)
            case .field(let field): element.storeBytes(of: cell(row, of: field).tail, as: UInt64.self)
            case .key: element.storeBytes(of: try items.key(number, values).0, as: PackedKey.self)
            case .keyKind: element.storeBytes(of: try items.key(number, values).isText, as: Bool.self)
            case .custom: element.storeBytes(of: try items.custom(number, values), as: CustomFields.self)
            }
        } catch {
            record(row, error)
            switch column {
            // A unique key, the same at each reading.
            case .key: element.storeBytes(of: .uuid(high: UInt64(row), low: .max, version: 8), as: PackedKey.self)
            case .keyKind: element.storeBytes(of: false, as: Bool.self)
            case .field: break
            case .custom: element.storeBytes(of: .none, as: CustomFields.self)
            }
        }
    }

    func cell(_ row: UInt32, of field: ItemField) -> Cell {
        do throws(PropertyListError) {
            if let number = numbers(of: field)?.number(Int(row)) { return .integer(number) }
            return try items.cell(Int(row), field, values)
        } catch {
            record(row, error)
            return schema.fields[Int(field.rawValue)].unset
        }
    }

    /// Reads elements of a column of numbers for some rows of 64, if that is cheaper than row by row.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - absent: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the address of the first element.
    /// - Returns: whether it read them.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool {
        guard case .field(let field) = column else { return false }
        return numbers(of: field)?.copy(absent, from: first, to: elements) ?? false
    }

    @inline(__always)
    private func numbers(of field: ItemField) -> MappedNumbers? {
        Int(field.rawValue) < numbers.count ? numbers[Int(field.rawValue)] : nil
    }

    /// Reads the elements of some rows of a text column in a batch. Those that cannot be read in this way are left
    /// ``Cell/archived``; nothing is cached or reported.
    func texts(_ column: MappedColumn, _ rows: UnsafeBufferPointer<UInt32>, into cells: UnsafeMutablePointer<Cell>) {
        guard case .field(let field) = column else {
            return cells.initialize(repeating: .archived, count: rows.count)
        }
        items.texts(rows, field, into: cells)
    }

    // MARK: Some fields of all rows

    func beginColumns(_ fields: [UInt32]) { items.beginColumns(fields) }

    func endColumns() { items.beginColumns([]) }

    func cell(_ row: UInt32, column: Int) -> Cell {
        do throws(PropertyListError) { return try items.columnCell(Int(row), column, values) } catch {
            record(row, error)
            return .absent
        }
    }

    /// The row's key, read from the archive, if it is a readable UUID; nothing is cached or reported.
    func uuid(_ row: UInt32) -> PackedKey? {
        try? items.uuid(Int(row))
    }

    private func record(_ row: UInt32, _ error: PropertyListError) {
        let text = "item \(row + 1) of the archive cannot be read whole: \(error.message)"
        guard damage.record(text), let onDamage else { return }
        for text in damage.takeUnreported() { onDamage(text) }
    }
}

/// The unreadable parts of a mapped archive, as its store and the snapshots of saves find them, on their threads.
final class ArchiveDamage: Sendable {
    private struct State {
        /// The first failures to read, in words.
        var texts: [String] = []
        var reported = 0
    }

    private let state = Mutex(State())

    var isFound: Bool { state.withLock { !$0.texts.isEmpty } }

    /// Records a failure to read.
    ///
    /// - Returns: false for one of many, or one that is known.
    func record(_ text: String) -> Bool {
        state.withLock { state in
            guard state.texts.count < 20, !state.texts.contains(text) else { return false }
            state.texts.append(text)
            return true
        }
    }

    /// What was recorded since the last call.
    func takeUnreported() -> [String] {
        state.withLock { state in
            defer { state.reported = state.texts.count }
            return Array(state.texts[state.reported...])
        }
    }
}

/// The integers of a declared field in an index file, as an array: a full scan does not parse the archive for them.
///
/// Measured: the first query for an integer range after opening takes 0.07 of the time at 28,143 items (0.4 ms for 5.9)
/// and 0.06 at 1,000,000 (11 ms for 198).
///
/// The bytes are untrusted: each page is checked at its first access, and a damaged page is not used. For one thread.
package final class MappedNumbers {
    /// Numbers per checksum.
    static let numbersInPage = 512

    let count: Int
    private let numbers: UnsafeRawBufferPointer
    /// XXH64 of each page, seeded with the page's number.
    private let checksums: UnsafeRawBufferPointer
    private var pages: [PageState]
    /// Owns the mapping.
    private let keeper: AnyObject?

    private enum PageState: UInt8 { case unknown, whole, damaged }

    /// - Parameters:
    ///   - numbers: eight bytes each, little-endian.
    ///   - checksums: one for each page.
    ///   - keeper: the owner of the memory.
    init?(_ numbers: UnsafeRawBufferPointer, checksums: UnsafeRawBufferPointer, keeper: AnyObject?) {
        count = numbers.count / 8
        let pageCount = Self.pageCount(count)
        guard numbers.count % 8 == 0, checksums.count == pageCount * 8 else { return nil }
        self.numbers = numbers
        self.checksums = checksums
        self.keeper = keeper
        pages = [PageState](repeating: .unknown, count: pageCount)
    }

    static func pageCount(_ count: Int) -> Int { (count + numbersInPage - 1) / numbersInPage }

    /// The checksums of a table's pages.
    static func checksums(of numbers: UnsafeRawBufferPointer) -> [UInt64] {
        (0..<pageCount(numbers.count / 8)).map { checksum(ofPage: $0, of: numbers) }
    }

    private static func checksum(ofPage page: Int, of numbers: UnsafeRawBufferPointer) -> UInt64 {
        let bytes = page * numbersInPage * 8..<min((page + 1) * numbersInPage * 8, numbers.count)
        return Checksum.hash(UnsafeRawBufferPointer(rebasing: numbers[bytes]), seed: UInt64(page))
    }

    /// The number of a row; nil if its page is damaged.
    func number(_ row: Int) -> Int64? {
        guard row < count, isWhole(page: row / Self.numbersInPage) else { return nil }
        return Int64(bitPattern: numbers.littleEndian(UInt64.self, at: row * 8))
    }

    /// Copies numbers of some rows of 64.
    ///
    /// - Parameters:
    ///   - wanted: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - target: the address of the first element; those of other rows are unchanged.
    /// - Returns: false if the page is damaged.
    func copy(_ wanted: UInt64, from first: Int, to target: UnsafeMutableRawPointer) -> Bool {
        assert(first % 64 == 0)
        guard first + 64 - wanted.leadingZeroBitCount <= count, isWhole(page: first / Self.numbersInPage) else {
            return false
        }
        let target = target.assumingMemoryBound(to: UInt64.self)
        if wanted == .max {
            for index in 0..<64 { target[index] = numbers.littleEndian(UInt64.self, at: (first + index) * 8) }
            return true
        }
        var left = wanted
        while left != 0 {
            let index = left.trailingZeroBitCount
            target[index] = numbers.littleEndian(UInt64.self, at: (first + index) * 8)
            left &= left &- 1
        }
        return true
    }

    /// Whether all pages are undamaged.
    package var isWhole: Bool { pages.indices.allSatisfy { isWhole(page: $0) } }

    @inline(__always)
    private func isWhole(page: Int) -> Bool {
        pages[page] == .unknown ? check(page) : pages[page] == .whole
    }

    @inline(never)
    private func check(_ page: Int) -> Bool {
        let isWhole = Self.checksum(ofPage: page, of: numbers) == checksums.littleEndian(UInt64.self, at: page * 8)
        pages[page] = isWhole ? .whole : .damaged
        return isWhole
    }
}

extension ItemLoader {
    /// Maps an archive's items into the empty store; none is read yet.
    ///
    /// - Parameters:
    ///   - items: the archive's items.
    ///   - index: their index file.
    ///   - slots: the index's table of keys.
    ///   - numbers: by field, the index's copy of its integers; nil if there is no usable one.
    ///   - damage: records the parts that turn out to be unreadable.
    ///   - onDamage: called with each, in words.
    func map(
        _ items: MappedItems, _ index: ItemIndexFile, _ slots: MappedKeySlots, _ numbers: [MappedNumbers?],
        _ damage: ArchiveDamage, onDamage: @escaping (String) -> Void
    ) {
        for name in index.customFields { _ = store.field(named: name) }
        let source = ArchiveRows(items, numbers: numbers, damage)
        source.onDamage = onDamage
        store.map(index.count, index.fieldKinds, source, seed: index.seed, slots)
    }
}
