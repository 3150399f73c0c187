import ColumnEngine
import PropertyList
import SQLite

/// Reads rows of a table, some hundreds at a time.
final class SQLRowCursor: SQLiteTableCursor {
    private let table: SQLRowTable
    private let store: ColumnStore
    private var plan = SQLRowTable.Plan()
    private var scan: ColumnScan?
    private let rows = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: ColumnScan.batch)
    private let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: ColumnScan.batch)
    private var count = 0
    private var lanes: [Int: ScanLane] = [:]
    private var usedColumns: [Int] = []
    /// How often a plan with a look-up has begun.
    private var begins = 0
    /// All rows of a small table, which stay while rows are looked up in it.
    private var whole: WholeBatch?
    private let selection = UnsafeMutablePointer<UInt32>.allocate(capacity: ColumnScan.batch)

    private struct WholeBatch {
        let version: UInt64
        let lookup: ScanLookup
        let condition: SQLRowTable.Plan.Condition
        /// The place of each row in the batch.
        var places: [UInt32]
    }

    /// From this time on rows are looked up: the look-up takes as long as some scans.
    private static let beginsThatLookUp = 3

    init(_ table: SQLRowTable) { (self.table, store) = (table, table.store) }

    deinit {
        rows.deallocate()
        numbers.deallocate()
        selection.deallocate()
    }

    // MARK: Beginning

    func begin(_ number: Int, _ values: SQLiteArguments, _ batch: SQLiteBatch) throws {
        plan = table.plan(number)
        usedColumns = table.shape.columns.indices.prefix(63).filter { plan.columns & (1 << UInt64($0)) != 0 }
        scan = nil
        for order in plan.order {
            guard let field = table.shape.columns[order.column].field else { continue }
            if !store.isPlainOrder(field, alsoDates: true) {
                let name = table.shape.columns[order.column].name
                throw SQLError(
                    .failed, "\(name) has got values of another kind since the statement was prepared: prepare it again"
                )
            }
        }
        if let looked = plan.lookup {
            let condition = plan.conditions[looked]
            if try showSmall(condition, values, batch) { return }
            if let found = try lookedUp(condition, values) {
                scan = try makeScan(found, values, without: looked)
                return try next(batch)
            }
        }
        whole = nil
        scan = try makeScan(nil, values, without: nil)
        try next(batch)
    }

    private func makeScan(_ found: [UInt32]?, _ values: SQLiteArguments, without looked: Int?) throws -> ColumnScan {
        var conditions: [ScanCondition] = []
        for (index, condition) in plan.conditions.enumerated() where index != looked {
            guard let field = table.shape.columns[condition.column].field,
                let test = test(condition, values)
            else { continue }
            conditions.append(ScanCondition(field, test))
        }
        let order = plan.order.compactMap { order in
            table.shape.columns[order.column].field.map { (field: $0, isDescending: order.isDescending) }
        }
        return try ColumnScan(store, rows: found, conditions, order: order)
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
        let isReady = table.madeLookup(field) != nil || begins >= Self.beginsThatLookUp
        guard isReady, !condition.isList, let constant = constant(values[argument], column) else { return nil }
        let (found, rest) = try table.lookup(field, areDays: column.areDays).rows(with: constant)
        return rest.isEmpty ? Array(found) : Array(found) + rest
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

    /// Shows rows of a small table that has been read as a whole: nothing is read for a look-up then.
    private func showSmall(
        _ condition: SQLRowTable.Plan.Condition, _ values: SQLiteArguments, _ batch: SQLiteBatch
    ) throws -> Bool {
        let column = table.shape.columns[condition.column]
        guard plan.conditions.count == 1, plan.order.isEmpty, !condition.isList, condition.operation == .equal,
            let field = column.field, field != store.keyField, let argument = condition.argument
        else { return false }
        if whole?.version != store.version || whole?.condition != condition {
            begins += 1
            guard begins >= Self.beginsThatLookUp, store.count <= ColumnScan.batch else { return false }
            try loadWhole(condition, field, column, batch)
        }
        guard let whole, let constant = constant(values[argument], column) else { return false }
        let (found, rest) = whole.lookup.rows(with: constant)
        var shown = 0
        for row in found {
            selection[shown] = whole.places[Int(row)]
            shown += 1
        }
        for row in rest {
            selection[shown] = whole.places[Int(row)]
            shown += 1
        }
        batch.show(numbers, count: shown, selection: selection, isSame: true)
        return true
    }

    private func loadWhole(
        _ condition: SQLRowTable.Plan.Condition, _ field: ItemField, _ column: SQLColumns.Column, _ batch: SQLiteBatch
    ) throws {
        let scan = try ColumnScan(store, [])
        count = try scan.next(rows)
        self.scan = nil
        var places = [UInt32](repeating: 0, count: store.rowCount)
        for place in 0..<count {
            numbers[place] = Int64(rows[place])
            places[Int(rows[place])] = UInt32(place)
        }
        batch.show(numbers, count: count)
        for column in usedColumns { try read(column, batch) }
        whole = WholeBatch(
            version: store.version, lookup: try table.lookup(field, areDays: column.areDays), condition: condition,
            places: places)
    }

    // MARK: Rows

    func next(_ batch: SQLiteBatch) throws {
        guard let scan else { return batch.show(nil, count: 0, isSame: true) }
        count = try scan.next(rows)
        for place in 0..<count { numbers[place] = Int64(rows[place]) }
        batch.show(numbers, count: count)
        if count == 0 { return }
        // At once, so that a row's values are those of one moment.
        for column in usedColumns { try read(column, batch) }
    }

    func read(_ number: Int, _ batch: SQLiteBatch) throws {
        let lane = lanes[number] ?? ScanLane(capacity: ColumnScan.batch)
        lanes[number] = lane
        let column = table.shape.columns[number]
        let found = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(rows)[..<count])
        if let field = column.field {
            lane.read(field, found, store)
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
        switch SQLiteValue(value, areDays: column.areDays) {
        case .integer(let number)?:
            (lane.kinds[place], lane.words[place]) = (ScanLane.Kind.integer, number)
        case .real(let number)?:
            (lane.kinds[place], lane.words[place]) = (ScanLane.Kind.real, Int64(bitPattern: number.bitPattern))
        case .text(let bytes)?: bytes.withUnsafeBufferPointer { lane.set(place, $0) }
        case .blob(let bytes)?: bytes.withUnsafeBufferPointer { lane.set(place, $0, ScanLane.Kind.blob) }
        case .null?: lane.clear(place)
        case nil:
            let key = store.keyString(rows[place])
            throw SQLError(
                .failed,
                "\(column.name) of the item \(key) is not Unicode text, or has a key that is none: leave the column out"
            )
        }
    }

    // MARK: Conditions

    private func test(
        _ condition: SQLRowTable.Plan.Condition, _ values: SQLiteArguments
    ) -> ScanCondition.Test? {
        let column = table.shape.columns[condition.column]
        switch condition.operation {
        case .isNull: return .isAbsent
        case .isNotNull: return .isPresent
        default: break
        }
        guard let argument = condition.argument else { return nil }
        if condition.isList { return members(argument, values, column) }
        let cell = values[argument]
        if case .null = cell { return condition.operation == .is ? .isAbsent : .nothing }
        switch condition.operation {
        case .like, .glob: return prefix(cell, isLike: condition.operation == .like)
        case .equal, .is: return compared(.equal, cell, column)
        case .less: return compared(.less, cell, column)
        case .atMost: return compared(.atMost, cell, column)
        case .greater: return compared(.greater, cell, column)
        case .atLeast: return compared(.atLeast, cell, column)
        default: return nil
        }
    }

    private func compared(
        _ comparison: ScanCondition.Comparison, _ cell: SQLiteCell, _ column: SQLColumns.Column
    ) -> ScanCondition.Test? {
        guard let constant = constant(cell, column) else { return nil }
        if case .text(let text) = constant, column.type == .moment || column.type == .day {
            return dates(comparison, text)
        }
        return .compare(comparison, constant)
    }

    /// The value of a condition if the column compares it as it is: numbers with numbers, texts with texts.
    private func constant(_ cell: SQLiteCell, _ column: SQLColumns.Column) -> ScanCondition.Constant? {
        switch (cell, column.type.affinity) {
        case (.integer(let number), .numeric): .integer(number)
        case (.real(let number), .numeric): .real(number)
        case (.text(let text), .text): .text(Array(text))
        default: nil
        }
    }

    /// The range of dates whose texts may satisfy a comparison, a day too wide.
    private func dates(_ comparison: ScanCondition.Comparison, _ text: [UInt8]) -> ScanCondition.Test? {
        guard text.count >= 10, text[0..<4].allSatisfy({ $0 &- 0x30 < 10 }),
            let date = SQLDate.date(String(decoding: text.prefix(19), as: UTF8.self))
                ?? SQLDate.date(String(decoding: text.prefix(10), as: UTF8.self))
        else { return nil }
        let seconds = date.secondsSinceReferenceDate
        switch comparison {
        case .equal: return .dates((seconds - 86400)...(seconds + 86400))
        case .less, .atMost: return .dates(-Double.infinity...(seconds + 86400))
        case .greater, .atLeast: return .dates((seconds - 86400)...Double.infinity)
        }
    }

    private func members(
        _ argument: Int, _ values: SQLiteArguments, _ column: SQLColumns.Column
    ) -> ScanCondition.Test? {
        var constants: Set<ScanCondition.Constant> = []
        var isKnown = column.type != .moment && column.type != .day
        values.forEach(inListAt: argument) { cell in
            if case .null = cell { return }
            if let constant = constant(cell, column) { constants.insert(constant) } else { isKnown = false }
        }
        return isKnown ? .among(Array(constants)) : nil
    }

    /// The beginning of a pattern, as far as it is literal.
    private func prefix(_ cell: SQLiteCell, isLike: Bool) -> ScanCondition.Test? {
        guard case .text(let pattern) = cell else { return nil }
        let wildcards: [UInt8] = isLike ? [0x25, 0x5F] : [0x2A, 0x3F, 0x5B]
        let prefix = pattern.prefix { $0 < 0x80 && !wildcards.contains($0) }
        return prefix.isEmpty ? nil : .begins(Array(prefix), foldsCase: isLike)
    }
}
