import ColumnEngine
import PropertyList
import SQLite

/// Reads rows of a table, some hundreds at a time.
final class SQLRowCursor: SQLiteTableCursor {
    private let table: SQLRowTable
    private let store: ColumnStore
    private var plan = SQLRowTable.Plan()
    private var scan: ColumnScan?
    private let memory = SQLiteMemory()
    private let rows = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: ColumnScan.batch)
    private let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: ColumnScan.batch)
    private var count = 0
    /// How many rows were read, in all plans.
    private var readCount = 0
    /// Whether the batch is one of the first, in which few rows are thought to be wanted.
    private var isFirst = false
    private var lanes: [Int: ScanLane] = [:]
    private var usedColumns: [Int] = []
    /// How often a plan with a look-up has begun.
    private var begins = 0
    /// All rows of a small table, which stay while rows are looked up in it.
    private var whole: WholeBatch?
    private let selection = UnsafeMutablePointer<UInt32>.allocate(capacity: ColumnScan.batch)

    private final class WholeBatch {
        let plan: Int
        let version: UInt64
        let lookup: ScanLookup
        let column: SQLColumns.Column
        let argument: Int
        /// The places in the batch of the look-up's rows, and of its rest.
        let places: UnsafeMutablePointer<UInt32>
        let restPlaces: [UInt32]

        init(
            _ plan: Int, _ lookup: ScanLookup, _ column: SQLColumns.Column, _ argument: Int,
            _ place: (UInt32) -> UInt32
        ) {
            (self.plan, version, self.lookup) = (plan, lookup.version, lookup)
            (self.column, self.argument) = (column, argument)
            places = .allocate(capacity: max(lookup.rows.count, 1))
            for (index, row) in lookup.rows.enumerated() { places[index] = place(row) }
            restPlaces = lookup.rest.map(place)
        }

        deinit { places.deallocate() }
    }

    /// From this time on rows are looked up: the look-up takes as long as some scans.
    private static let beginsThatLookUp = 3

    /// So many rows are read cell by cell, in small batches: a statement that wants a few rows does not read the columns of
    /// a mapped archive whole.
    private static let firstRows = 1024, firstBatch = 64

    init(_ table: SQLRowTable) { (self.table, store) = (table, table.store) }

    deinit {
        rows.deallocate()
        numbers.deallocate()
        selection.deallocate()
    }

    // MARK: Beginning

    func begin(_ number: Int, _ values: SQLiteArguments, _ batch: SQLiteBatch) throws {
        if let whole, whole.plan == number, whole.version == store.version, show(whole, values, batch) { return }
        whole = nil
        plan = table.plan(number)
        usedColumns = table.shape.columns.indices.prefix(63).filter { plan.columns & (1 << UInt64($0)) != 0 }
        scan = nil
        for order in plan.order {
            if !table.takesOrder(order.column, isAlone: plan.order.count == 1, areGroups: plan.areGroups) {
                let name = table.shape.columns[order.column].name
                throw SQLError(
                    .failed,
                    "the order of \(name) is no longer that of SQL, by a value of another kind or a dropped index: prepare the statement again"
                )
            }
        }
        if let looked = plan.lookup {
            let condition = plan.conditions[looked]
            if try loadSmall(number, condition, batch), let whole, show(whole, values, batch) { return }
            whole = nil
            if let found = try lookedUp(condition, values) {
                scan = try makeScan(found, values, without: looked)
                return try next(batch)
            }
        }
        scan = try makeScan(nil, values, without: nil)
        try next(batch)
    }

    private func makeScan(_ found: [UInt32]?, _ values: SQLiteArguments, without looked: Int?) throws -> ColumnScan {
        var conditions: [ScanCondition] = []
        for (index, condition) in plan.conditions.enumerated() where index != looked {
            let column = table.shape.columns[condition.column]
            guard let field = column.field,
                let test = SQLConditionTest(column).test(condition, values)
            else { continue }
            conditions.append(ScanCondition(field, test))
        }
        let order = plan.order.compactMap { order in
            table.shape.columns[order.column].field.map { (field: $0, isDescending: order.isDescending) }
        }
        // max(x) asks for an order of x alone, without a limit, and reads one row.
        let isOrderAlone = !plan.areGroups && usedColumns == plan.order.map(\.column)
        let comesFirst = plan.isLimited || plan.hasIndexOrder || isOrderAlone
        return try ColumnScan(
            store, rows: found, conditions, order: order, firstRows: comesFirst ? 1024 : nil,
            reserve: { try SQLiteMemory.check($0) })
    }

    // MARK: Looking up

    /// The rows that a look-up finds; nil if a scan is as fast.
    private func lookedUp(
        _ condition: SQLRowTable.Plan.Condition, _ values: SQLiteArguments
    ) throws -> [UInt32]? {
        let column = table.shape.columns[condition.column]
        guard let field = column.field, let argument = condition.argument else { return nil }
        if field == store.keyField { return keyed(condition, argument, values) }
        begins += 1
        if isIndexed(condition, field, values) { return nil }
        let isReady = table.madeLookup(field) != nil || begins >= Self.beginsThatLookUp
        guard isReady, !condition.isList, let constant = SQLConditionTest(column).constant(values[argument])
        else { return nil }
        // The look-up may be an earlier statement's.
        store.recordWholeRead()
        let lookup = try table.lookup(field, areDays: column.areDays)
        return Array(lookup.rows[lookup.range(of: constant)]) + lookup.rest
    }

    /// Whether the scan finds the rows by an index: for a few look-ups, since a table of hashes takes a scan to be made, and
    /// is then faster.
    private func isIndexed(
        _ condition: SQLRowTable.Plan.Condition, _ field: ItemField, _ values: SQLiteArguments
    ) -> Bool {
        guard begins <= store.estimatedCount / 64,
            let test = SQLConditionTest(table.shape.columns[condition.column]).test(condition, values),
            let count = store.indexedCount(field, [test])
        else { return false }
        return store.isFew(count)
    }

    private func keyed(
        _ condition: SQLRowTable.Plan.Condition, _ argument: Int, _ values: SQLiteArguments
    ) -> [UInt32]? {
        var rows: [UInt32] = []
        var isKnown = true
        func add(_ cell: SQLiteCell) {
            switch cell {
            case .text(let key): if let row = store.row(forKey: key), !rows.contains(row) { rows.append(row) }
            case .null: return
            default: isKnown = false
            }
        }
        if condition.isList { values.forEach(inListAt: argument, add) } else { add(values[argument]) }
        return isKnown ? rows : nil
    }

    /// Reads a small table as a whole, once rows are looked up in it often: then nothing is read for a look-up.
    private func loadSmall(
        _ number: Int, _ condition: SQLRowTable.Plan.Condition, _ batch: SQLiteBatch
    ) throws -> Bool {
        let column = table.shape.columns[condition.column]
        guard plan.conditions.count == 1, plan.order.isEmpty, !condition.isList, condition.operation == .equal,
            let field = column.field, field != store.keyField, let argument = condition.argument,
            store.estimatedCount <= ColumnScan.batch
        else { return false }
        begins += 1
        guard begins >= Self.beginsThatLookUp else { return false }
        let lookup = try table.lookup(field, areDays: column.areDays)
        store.recordWholeRead()
        isFirst = false
        count = try ColumnScan(store, []).next(rows)
        var places: [UInt32: UInt32] = [:]
        for place in 0..<count {
            numbers[place] = Int64(rows[place])
            places[rows[place]] = UInt32(place)
        }
        batch.show(numbers, count: count)
        for column in usedColumns { try read(column, batch) }
        whole = WholeBatch(number, lookup, column, argument) { places[$0] ?? 0 }
        return true
    }

    /// Shows the rows that a value is looked up for.
    ///
    /// - Returns: false for a value that is not looked up.
    private func show(_ whole: WholeBatch, _ values: SQLiteArguments, _ batch: SQLiteBatch) -> Bool {
        let range: Range<Int>
        switch (values[whole.argument], whole.column.type.affinity) {
        case (.text(let text), .text) where !whole.column.type.isDate: range = whole.lookup.range(ofText: text)
        case (.text, .text):
            guard let text = SQLConditionTest(whole.column).constant(values[whole.argument]) else { return false }
            range = whole.lookup.range(of: text)
        case (.integer(let number), .numeric): range = whole.lookup.range(of: .integer(number))
        case (.real(let number), .numeric): range = whole.lookup.range(of: .real(number))
        case (.null, _):
            batch.show(numbers, count: 0, isSame: true)
            return true
        default: return false
        }
        if whole.restPlaces.isEmpty {
            batch.show(numbers, count: range.count, selection: whole.places + range.lowerBound, isSame: true)
            return true
        }
        var shown = 0
        for index in range {
            selection[shown] = whole.places[index]
            shown += 1
        }
        for place in whole.restPlaces {
            selection[shown] = place
            shown += 1
        }
        batch.show(numbers, count: shown, selection: selection, isSame: true)
        return true
    }

    // MARK: Rows

    func next(_ batch: SQLiteBatch) throws {
        guard let scan else { return batch.show(nil, count: 0, isSame: true) }
        let wasFirst = isFirst
        isFirst = readCount < Self.firstRows
        // Rows that a key has found are recorded as these alone.
        if wasFirst, !isFirst, plan.lookup == nil {
            store.prepareColumns(usedColumns.compactMap { table.shape.columns[$0].field })
        }
        count = try scan.next(isFirst ? UnsafeMutableBufferPointer(rebasing: rows[..<Self.firstBatch]) : rows)
        readCount += count
        for place in 0..<count { numbers[place] = Int64(rows[place]) }
        batch.show(numbers, count: count)
        if count == 0 { return }
        // At once, so that a row's values are those of one moment.
        for column in usedColumns { try read(column, batch) }
        try memory.hold(lanes.values.reduce(scan.byteCount) { $0 + $1.memory })
    }

    func read(_ number: Int, _ batch: SQLiteBatch) throws {
        let lane = lanes[number] ?? ScanLane(capacity: ColumnScan.batch)
        lanes[number] = lane
        let column = table.shape.columns[number]
        let found = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(rows)[..<count])
        if let field = column.field {
            lane.read(field, found, store, cellByCell: isFirst)
            if scan?.isChanged ?? false {
                for place in found.indices where !store.isLive(found[place]) { lane.clear(place) }
            }
            if lane.needsConversion { try convertValues(lane, column) }
        } else {
            for place in found.indices {
                let isLive = store.isLive(found[place])
                lane.kinds[place] = isLive ? ScanLane.Kind.integer : ScanLane.Kind.absent
                lane.words[place] = isLive ? Int64(store.position(of: found[place]) + 1) : 0
            }
        }
        batch.setLane(number, lane.kinds, lane.words, lane.lengths, lane.bytes)
    }

    /// Makes texts of dates, and texts or blobs of values in boxes.
    private func convertValues(_ lane: ScanLane, _ column: SQLColumns.Column) throws {
        var text: [UInt8] = []
        var last: Int64?
        for place in 0..<count {
            switch lane.kinds[place] {
            case ScanLane.Kind.date:
                if lane.words[place] != last {
                    last = lane.words[place]
                    text.removeAll(keepingCapacity: true)
                    let seconds = Double(bitPattern: UInt64(bitPattern: lane.words[place]))
                    let date = PropertyListDate(secondsSinceReferenceDate: seconds)
                    SQLDate.append(date, isDay: column.areDays, to: &text)
                }
                text.withUnsafeBufferPointer { lane.set(place, $0) }
            case ScanLane.Kind.box:
                guard let field = column.field, let value = store.value(rows[place], field) else {
                    lane.clear(place)
                    continue
                }
                try set(lane, place, value, column)
            default: continue
            }
        }
    }

    private func set(
        _ lane: ScanLane, _ place: Int, _ value: PropertyListValue, _ column: SQLColumns.Column
    ) throws {
        let shown: SQLiteValue
        do throws(SQLError) { shown = try SQLiteValue(value, areDays: column.areDays) } catch {
            let key = store.keyString(rows[place])
            throw SQLError(
                .failed, "item \(key), field \(column.name): \(error.message): leave the column out")
        }
        switch shown {
        case .integer(let number):
            (lane.kinds[place], lane.words[place]) = (ScanLane.Kind.integer, number)
        case .real(let number):
            (lane.kinds[place], lane.words[place]) = (ScanLane.Kind.real, Int64(bitPattern: number.bitPattern))
        case .text(let bytes):
            bytes.withUnsafeBufferPointer { lane.set(place, $0) }
            table.onRead?(value, bytes)
        case .blob(let bytes): bytes.withUnsafeBufferPointer { lane.set(place, $0, ScanLane.Kind.blob) }
        case .null: lane.clear(place)
        }
    }
}
