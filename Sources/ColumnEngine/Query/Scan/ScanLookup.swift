import PropertyList

/// The rows of a store by the value of a field, for joins: found in a moment, while the store does not change.
///
/// Numbers are compared by what they are, texts byte by byte, dates as the texts that the reader makes of them. Rows whose
/// value is of another kind are among those of every value.
package final class ScanLookup {
    private let store: ColumnStore
    private let field: ItemField
    private let dateText: (Double) -> [UInt8]
    /// The store's version when it was made.
    package let version: UInt64
    private var index = HashIndex()
    private var hashes: [UInt64] = []
    /// The first row of each group.
    private var firsts: [UInt32] = []
    /// Where the rows of each group begin, and the rows by group.
    private var starts: [UInt32] = []
    package private(set) var rows: [UInt32] = []
    /// The rows whose values the reader compares.
    package private(set) var rest: [UInt32] = []

    /// The number of different values.
    package var count: Int { firsts.count }

    /// The memory of a row in bytes, at most: while it is made, with the rows in the order in which they are found.
    package static let bytes = 48

    /// Its memory in bytes.
    package var byteCount: Int {
        (rows.capacity + rest.capacity + firsts.capacity + starts.capacity) * 4 + hashes.capacity * 24
    }

    /// Makes it. O(n).
    ///
    /// - Throws: `WorkStopped`.
    package init(_ store: ColumnStore, _ field: ItemField, dateText: @escaping (Double) -> [UInt8]) throws {
        (self.store, self.field, self.dateText) = (store, field, dateText)
        version = store.version
        let scan = try ColumnScan(store, [])
        let batch = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: ColumnScan.batch)
        defer { batch.deallocate() }
        var (found, groups): ([UInt32], [UInt32]) = ([], [])
        var ofCodes: [UInt32?] = []
        while case let number = try scan.next(batch), number > 0 {
            switch store.view(field) {
            case .absent: continue
            case .codes(let codes, let dictionary):
                if ofCodes.isEmpty { ofCodes = dictionary.cells.map { $0.isAbsent ? .max : nil } }
                for row in batch[..<number] {
                    let code = Int(codes[Int(row)])
                    if ofCodes[code] == nil { ofCodes[code] = group(of: dictionary.cells[code], row) ?? .max - 1 }
                    add(row, ofCodes[code] ?? .max, &found, &groups)
                }
            default:
                for row in batch[..<number] {
                    let cell = cell(row)
                    add(row, cell.isAbsent ? .max : group(of: cell, row) ?? .max - 1, &found, &groups)
                }
            }
        }
        arrange(found, groups)
    }

    private func add(_ row: UInt32, _ group: UInt32, _ found: inout [UInt32], _ groups: inout [UInt32]) {
        if group == .max { return }
        if group == .max - 1 {
            rest.append(row)
        } else {
            found.append(row)
            groups.append(group)
        }
    }

    /// Puts the rows of each group together, in order.
    private func arrange(_ found: [UInt32], _ groups: [UInt32]) {
        starts = [UInt32](repeating: 0, count: firsts.count + 1)
        for group in groups { starts[Int(group) + 1] += 1 }
        for group in firsts.indices { starts[group + 1] += starts[group] }
        var next = starts
        rows = [UInt32](repeating: 0, count: found.count)
        for (place, group) in groups.enumerated() {
            rows[Int(next[Int(group)])] = found[place]
            next[Int(group)] += 1
        }
    }

    private func cell(_ row: UInt32) -> Cell { store.table.cell(row, field) }

    /// The number of a value's group, which is made if it is new; nil for a value that the reader compares.
    private func group(of cell: Cell, _ row: UInt32) -> UInt32? {
        guard let hash = hash(cell) else { return nil }
        if let group = index.find(hash, where: { areEqual(self.cell(firsts[Int($0)]), cell) }) { return group }
        let group = UInt32(firsts.count)
        firsts.append(row)
        hashes.append(hash)
        let hashes = hashes
        index.insert(group, hash: hash) { hashes[Int($0)] }
        return group
    }

    private func hash(_ cell: Cell) -> UInt64? {
        switch cell.kind {
        case .shortText, .longText: return cell.withText { index.hasher.hash(text: $0) }
        case .no, .yes: return hash(integer: cell.kind == .yes ? 1 : 0)
        case .integer: return hash(integer: cell.integerValue)
        case .real, .single:
            let number = CellOrder.number(cell)
            return number.isNaN ? nil : hash(real: number)
        case .date: return dateText(cell.realValue).withUnsafeBufferPointer { index.hasher.hash(text: $0) }
        case .box, .absent: return nil
        }
    }

    private func hash(integer: Int64) -> UInt64 {
        index.hasher.hash(PackedKey(high: 1, low: UInt64(bitPattern: integer)))
    }

    private func hash(real: Double) -> UInt64 {
        if let integer = Int64(exactly: real) { return hash(integer: integer) }
        return index.hasher.hash(PackedKey(high: 2, low: real.bitPattern))
    }

    private func areEqual(_ first: Cell, _ second: Cell) -> Bool {
        if first.kind == .date, second.kind == .date { return dateText(first.realValue) == dateText(second.realValue) }
        return CellOrder.compare(Self.plain(first), Self.plain(second)) == 0
    }

    /// A truth value as the number that it is for the reader.
    private static func plain(_ cell: Cell) -> Cell {
        switch cell.kind {
        case .no: .integer(0)
        case .yes: .integer(1)
        default: cell
        }
    }

    // MARK: Finding

    /// Where the rows with a number are among ``rows``, in order; those of ``rest`` may have it, too.
    package func range(of number: ScanCondition.Constant) -> Range<Int> {
        switch number {
        case .text(let text): return text.withUnsafeBufferPointer { range(ofText: $0) }
        case .integer(let number):
            return range(index.find(hash(integer: number)) { isNumber(firsts[Int($0)], .integer(number)) })
        case .real(let number):
            if number.isNaN { return 0..<0 }
            return range(index.find(hash(real: number)) { isNumber(firsts[Int($0)], .real(number)) })
        }
    }

    /// The same for a text.
    package func range(ofText text: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        range(
            index.find(index.hasher.hash(text: text)) { group in
                let cell = cell(firsts[Int(group)])
                if cell.kind == .date { return dateText(cell.realValue).elementsEqual(text) }
                return cell.isText && cell.withText { CellOrder.compareText($0, text) == 0 }
            })
    }

    private func range(_ group: UInt32?) -> Range<Int> {
        guard let group = group.map({ Int($0) }) else { return 0..<0 }
        return Int(starts[group])..<Int(starts[group + 1])
    }

    private func isNumber(_ row: UInt32, _ number: Cell) -> Bool {
        let cell = Self.plain(cell(row))
        return !cell.isText && cell.kind != .date && CellOrder.compare(cell, number) == 0
    }
}
