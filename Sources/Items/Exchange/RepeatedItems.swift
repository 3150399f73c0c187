import ColumnEngine
import Files
import PropertyList

extension ItemMerger {
    /// Says how many of the new items are equal to ones that were there: a file that was imported twice without a key.
    ///
    /// - Throws: `WorkStopped`.
    func remarkRepeated(_ row: ImportedRow) throws {
        // In a serializable transaction a read of all items would conflict with every other host's changes.
        guard !hasKey, report.created > 0, formerCount > 0, !row.columns.isEmpty, !store.columns.recordsReads() else {
            return
        }
        // Of a small file and a large collection the comparison would take longer than the import.
        guard formerCount <= max(1 << 18, report.created * 16) else { return }
        var items = RepeatedItems(store.columns, row.columns.map(\.field))
        let count = try items.count(created: report.created)
        let title = row.place(of: ItemField(rawValue: 0)).map { row.columns[$0].fieldName }
        let key =
            title ?? items.distinctive.flatMap { field in row.columns.first { $0.field == field }?.fieldName } ?? ""
        remark(
            .repeated, count,
            "\(count.counted("new item")) \(count == 1 ? "is" : "are") equal to \(count == 1 ? "one that was" : "ones that were") there: with \(OptionWords.option("key", key)) an import finds those again"
        )
    }
}

/// Compares new items with those that were there, by the fields of a file.
///
/// One field, of many different values, tells most of the other items apart; of the others all fields are hashed.
struct RepeatedItems {
    private let columns: ColumnStore
    private let fields: [ItemField]
    private let seed = UInt64.random(in: .min ... .max)
    /// The field with the most values among the first new items.
    private(set) var distinctive: ItemField?

    init(_ columns: ColumnStore, _ fields: [ItemField]) {
        (self.columns, self.fields) = (columns, fields.filter { $0 != columns.keyField })
    }

    /// The number of new items, the last ones, that are equal to one of the others. O(items) for one field.
    ///
    /// - Throws: `WorkStopped`.
    mutating func count(created: Int) throws -> Int {
        let rows = columns.slots.filter { $0 != ItemOrder.hole }
        let (former, new) = (rows.dropLast(created), rows.suffix(created))
        guard !former.isEmpty, let first = try mostDistinctive(new.prefix(500)) else { return 0 }
        distinctive = first
        columns.prepareColumns([first])
        var pace = InterruptionPace()
        var values: Set<UInt64> = []
        for row in new {
            if pace.isDue() { throw WorkStopped() }
            values.insert(hash(row, first, seed))
        }
        var known: Set<UInt64> = []
        for row in former {
            if pace.isDue() { throw WorkStopped() }
            guard values.contains(hash(row, first, seed)) else { continue }
            if known.isEmpty { columns.prepareColumns(fields) }
            known.insert(hash(row))
        }
        if known.isEmpty { return 0 }
        var count = 0
        for row in new {
            if pace.isDue() { throw WorkStopped() }
            if known.contains(hash(row)) { count += 1 }
        }
        return count
    }

    private func mostDistinctive(_ rows: ArraySlice<UInt32>) throws -> ItemField? {
        let counts = fields.map { field in Set(rows.map { hash($0, field, seed) }).count }
        return counts.max().flatMap { most in counts.firstIndex(of: most) }.map { fields[$0] }
    }

    /// The hash of all fields: of two items with different values the same one in 2^64 cases.
    private func hash(_ row: UInt32) -> UInt64 { fields.reduce(seed) { hash(row, $1, $0) } }

    private func hash(_ row: UInt32, _ field: ItemField, _ seed: UInt64) -> UInt64 {
        let cell = columns.cell(row, field)
        if cell.isText { return cell.withText { Checksum.hash(UnsafeRawBufferPointer($0), seed: seed) } }
        switch columns.value(cell) {
        case nil: return Self.mix(seed, 1, 0)
        case .integer(let number)?: return Self.mix(seed, 2, UInt64(bitPattern: number))
        case .real(let number)?: return Self.mix(seed, 3, number.bitPattern)
        case .date(let date)?: return Self.mix(seed, 4, date.secondsSinceReferenceDate.bitPattern)
        case .boolean(let flag)?: return Self.mix(seed, 5, flag ? 1 : 0)
        case let value?: return Self.mix(seed, 6, UInt64(bitPattern: Int64(value.hashValue)))
        }
    }

    private static func mix(_ seed: UInt64, _ kind: UInt64, _ bits: UInt64) -> UInt64 {
        let product = (seed ^ bits).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15 &+ kind << 1)
        return product.high ^ product.low &+ kind
    }
}
