/// A query's predicates as passes over a list of rows, one for each of their parts, the cheap ones first.
///
/// A pass goes over one field: it calls no closures where the field's kind is known, and what lies apart in memory is
/// fetched ahead.
struct ItemFilter {
    private enum Pass {
        case values(PredicateIntegerTest)
        case texts(ItemField, PredicateTextTest, whenAbsent: Bool)
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
                return .texts(field, text, whenAbsent: test.whenAbsent)
            }
        }
        return .rows(part.condition)
    }

    /// Calls a body with those of some rows that satisfy the predicates, in order, until it says false; nothing changes
    /// the store meanwhile.
    ///
    /// - Returns: how many rows were looked at; holes of the store's order do not count.
    func forEach(
        of candidates: some RandomAccessCollection<UInt32>, _ body: (UInt32) throws -> Bool
    ) rethrows -> Int {
        // Most items of a mapped archive are still in it, and the first pass asks for all of theirs.
        if case .values? = passes.first, candidates.count > store.count / 2 { store.table.bringIn(.valueInDollars) }
        var examined = 0
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.chunk) { chunk in
            var next = candidates.startIndex
            while next != candidates.endIndex {
                let end =
                    candidates.index(next, offsetBy: Self.chunk, limitedBy: candidates.endIndex)
                    ?? candidates.endIndex
                var count = 0
                for row in candidates[next..<end] where row != ItemOrder.hole {
                    chunk[count] = row
                    count += 1
                }
                examined += count
                next = end
                for pass in passes where count > 0 {
                    count = keep(pass, UnsafeMutableBufferPointer(rebasing: chunk[..<count]))
                }
                for row in chunk[..<count] where try !body(row) { return }
            }
        }
        return examined
    }

    /// Brings the rows that satisfy one pass to the front; how many they are.
    private func keep(_ pass: Pass, _ rows: UnsafeMutableBufferPointer<UInt32>) -> Int {
        let store = store
        switch pass {
        case .values(.inside(let range)):
            return keep(rows, ahead: .valueInDollars) { range.contains(store.table.values[$0]) }
        case .values(let test):
            return keep(rows, ahead: .valueInDollars) { test.holds(store.table.values[$0]) }
        case .texts(.name, .contains(let needle), _):
            store.table.bringInTexts(rows, .name)
            return keep(rows, ahead: .name) {
                needle.isContained(in: Cell.text(at: store.table.names.pointer($0)))
            }
        case .texts(let field, let test, let whenAbsent):
            store.table.bringInTexts(rows, field)
            return keep(rows, ahead: field) {
                let pointer = field == .name ? store.table.names.pointer($0) : store.table.serials.pointer($0)
                return pointer.pointee.isAbsent ? whenAbsent : test.holds(Cell.text(at: pointer))
            }
        case .rows(let condition):
            return keep(rows, ahead: nil, condition)
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
