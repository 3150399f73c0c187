import PredicateFormat
import PropertyList

/// A query's predicates as passes over a list of rows, one for each of their parts, the cheap ones first.
///
/// A pass goes over one field: it calls no closures where the field's kind is known, and what lies apart in memory is
/// fetched ahead.
struct ItemFilter {
    private enum Pass {
        case values(PredicateIntegerTest)
        case texts(ItemField, PredicateTextTest, whenAbsent: Bool, isFirstScan: Bool)
        case rows((UInt32) -> Bool)
    }

    /// How many rows go through the passes at a time.
    static let chunk = 1024
    /// How many rows ahead a cell is fetched; its text half as many ahead.
    private static let lookahead = 16

    private let store: ItemStore
    private let passes: [Pass]

    /// Nil when a condition is a function, which may change the store.
    init?(_ query: ItemQuery) {
        let store = query.store
        var passes: [Pass] = []
        for condition in query.conditions {
            guard case .predicate(let predicate) = condition else { return nil }
            passes += predicate.parts(accessors: query.accessor).map { Self.pass($0, store) }
        }
        (self.store, self.passes) = (store, passes)
    }

    private static func pass(_ part: PredicatePart<UInt32>, _ store: ItemStore) -> Pass {
        if let (name, test) = part.fieldTest, let field = store.fields.existing(name) {
            if field == .valueInDollars, let integer = test.integer { return .values(integer) }
            if field == .name || field == .serialNumber, let text = test.text {
                return .texts(
                    field, text, whenAbsent: test.whenAbsent, isFirstScan: store.table.beginScan(of: field))
            }
        }
        return .rows(part.condition)
    }

    /// Calls a body with those of some rows that satisfy the predicates, in order, until it says false; nothing changes
    /// the store meanwhile.
    ///
    /// - Returns: how many rows were looked at; holes of the store's order do not count.
    func forEach(of rows: [UInt32], _ body: (UInt32) throws -> Bool) throws -> Int {
        try forEach(rows.count, body) { range, chunk in
            var count = 0
            for row in rows[range] where row != ItemOrder.hole {
                chunk[count] = row
                count += 1
            }
            return count
        }
    }

    // The same for rows that follow each other.
    func forEach(of rows: Range<UInt32>, _ body: (UInt32) throws -> Bool) throws -> Int {
        try forEach(rows.count, body) { range, chunk in
            let first = rows.lowerBound + UInt32(range.lowerBound)
            for place in 0..<range.count { chunk[place] = first &+ UInt32(truncatingIfNeeded: place) }
            return range.count
        }
    }

    // `fill` writes those of some rows that there are, and says how many they are.
    @inline(__always)
    private func forEach(
        _ rowCount: Int, _ body: (UInt32) throws -> Bool,
        _ fill: (Range<Int>, UnsafeMutableBufferPointer<UInt32>) -> Int
    ) throws -> Int {
        // The first pass asks for all numbers of what is then most of the items.
        let values = rowCount > store.count / 2 ? firstRange.map { ($0, store.table.allValues) } : nil
        var examined = 0
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.chunk) { chunk in
            for start in stride(from: 0, to: rowCount, by: Self.chunk) {
                if Interruption.isDue { throw WorkStopped() }
                var count = fill(start..<min(start + Self.chunk, rowCount), chunk)
                examined += count
                if let (range, values) = values { count = Self.keep(chunk[..<count], range, values) }
                for pass in values == nil ? passes[...] : passes.dropFirst() where count > 0 {
                    count = keep(pass, UnsafeMutableBufferPointer(rebasing: chunk[..<count]))
                }
                for row in chunk[..<count] where try !body(row) { return }
            }
        }
        return examined
    }

    /// The range of values that the first pass lets through, when it is one of that kind.
    private var firstRange: ClosedRange<Int64>? {
        if case .values(.inside(let range))? = passes.first { range } else { nil }
    }

    /// Brings the rows whose values are in a range to the front; how many they are.
    @inline(__always)
    private static func keep(
        _ rows: Slice<UnsafeMutableBufferPointer<UInt32>>, _ range: ClosedRange<Int64>, _ values: UnsafePointer<Int64>
    ) -> Int {
        let rows = UnsafeMutableBufferPointer(rebasing: rows)
        var kept = 0
        for row in rows {
            rows[kept] = row
            kept &+= range.contains(values[Int(row)]) ? 1 : 0
        }
        return kept
    }

    /// Brings the rows that satisfy one pass to the front; how many they are.
    private func keep(_ pass: Pass, _ rows: UnsafeMutableBufferPointer<UInt32>) -> Int {
        let store = store
        switch pass {
        case .values(.inside(let range)):
            return keep(rows, ahead: .valueInDollars) { range.contains(store.table.values[$0]) }
        case .values(let test):
            return keep(rows, ahead: .valueInDollars) { test.holds(store.table.values[$0]) }
        case .texts(let field, let test, let whenAbsent, isFirstScan: true):
            return keep(rows, lookingAt: field) { $0.pointee.isAbsent ? whenAbsent : test.holds(Cell.text(at: $0)) }
        case .texts(.name, .contains(let needle), _, _):
            store.table.bringInTexts(rows, .name)
            return keep(rows, ahead: .name) {
                needle.isContained(in: Cell.text(at: store.table.names.pointer($0)))
            }
        case .texts(let field, let test, let whenAbsent, _):
            store.table.bringInTexts(rows, field)
            return keep(rows, ahead: field) {
                let pointer = field == .name ? store.table.names.pointer($0) : store.table.serials.pointer($0)
                return pointer.pointee.isAbsent ? whenAbsent : test.holds(Cell.text(at: pointer))
            }
        case .rows(let condition):
            return keep(rows, ahead: nil, condition)
        }
    }

    private func keep(
        _ rows: UnsafeMutableBufferPointer<UInt32>, lookingAt field: ItemField, _ holds: (UnsafePointer<Cell>) -> Bool
    ) -> Int {
        withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
            guard let cells = cells.baseAddress else { return 0 }
            store.table.look(at: rows, field, cells)
            var kept = 0
            for place in rows.indices {
                rows[kept] = rows[place]
                if holds(cells + place) { kept += 1 }
            }
            return kept
        }
    }

    @inline(__always)
    private func keep(
        _ rows: UnsafeMutableBufferPointer<UInt32>, ahead field: ItemField?, _ holds: (UInt32) -> Bool
    ) -> Int {
        var kept = 0
        for place in rows.indices {
            if let field, place + Self.lookahead < rows.count {
                store.table.prefetch(rows[place + Self.lookahead], field)
                let next = rows[place + Self.lookahead / 2]
                if store.table.hasText(next, field) { store.table.prefetchText(next, field) }
            }
            let row = rows[place]
            rows[kept] = row
            if holds(row) { kept += 1 }
        }
        return kept
    }
}
