internal import CSQLite

/// A virtual table: SQLite asks it how it would answer, and reads batches of its rows.
package protocol SQLiteTable: AnyObject {
    /// The number of its columns.
    var columnCount: Int { get }
    /// Chooses the cheapest way to answer a question.
    ///
    /// - Returns: a number that a cursor gets for this plan.
    func plan(_ question: SQLiteQuestion) -> Int
    /// What a plan does, for `explain query plan`; nil for nothing to say.
    func explanation(ofPlan number: Int) -> String?
    func makeCursor() -> any SQLiteTableCursor
    /// Records a change of a row.
    ///
    /// - Throws: an error that ends the statement.
    func change(_ change: SQLiteChange) throws
}

/// Reads rows of a table, a batch at a time.
package protocol SQLiteTableCursor: AnyObject {
    /// Begins anew by a plan, with the values that it has asked for, and shows the first batch.
    func begin(_ plan: Int, _ values: SQLiteArguments, _ batch: SQLiteBatch) throws
    /// Shows the next batch; nothing is shown at the end.
    func next(_ batch: SQLiteBatch) throws
    /// Sets the lane of a column for the batch that is shown.
    func read(_ column: Int, _ batch: SQLiteBatch) throws
}

/// What SQLite asks of a table: the conditions and the order that it could answer.
package struct SQLiteQuestion {
    /// A comparison of a column with a value that a table may answer, and the limit of a statement; by SQLite's numbers.
    package enum Operation: UInt8 {
        case equal = 2
        case greater = 4
        case atMost = 8
        case less = 16
        case atLeast = 32
        case like = 65
        case glob = 66
        case isNotNull = 70
        case isNull = 71
        case `is` = 72
        case limit = 73
    }

    private let info: UnsafeMutablePointer<sqlite3_index_info>
    private let library: UnsafePointer<csqlite_library>

    init(_ info: UnsafeMutablePointer<sqlite3_index_info>, _ library: UnsafePointer<csqlite_library>) {
        (self.info, self.library) = (info, library)
    }

    // MARK: Conditions

    package var constraintCount: Int { info.pointee.constraints == nil ? 0 : Int(info.pointee.constraint_count) }

    /// The column of a condition; -1 for the row's number.
    package func column(_ index: Int) -> Int { info.pointee.constraints.map { Int($0[index].column) } ?? -1 }

    /// Its comparison; nil for one that is not known, or that is not usable in this plan.
    package func operation(_ index: Int) -> Operation? {
        guard let constraint = info.pointee.constraints?[index], constraint.is_usable != 0 else { return nil }
        return Operation(rawValue: constraint.operation)
    }

    /// Whether texts are compared byte by byte; if so, for dates also as moments.
    package func isBinary(_ index: Int, orOfDates allowsDates: Bool) -> Bool {
        let name = String(cString: library.pointee.sqlite3_vtab_collation(info, Int32(index))).lowercased()
        return name == "binary" || allowsDates && name == SQLiteDatabase.dateOrder
    }

    /// Whether it is a list; if so, asks for all of its values at once.
    package func takesList(_ index: Int) -> Bool {
        guard let isIn = library.pointee.sqlite3_vtab_in, isIn(info, Int32(index), -1) != 0 else { return false }
        return isIn(info, Int32(index), 1) != 0
    }

    /// The value of a condition, where the statement has it as a literal; valid during the call.
    package func literal(_ index: Int) -> SQLiteCell? {
        var value: OpaquePointer?
        guard let find = library.pointee.sqlite3_vtab_rhs_value, find(info, Int32(index), &value) == 0, let value
        else { return nil }
        return SQLiteArguments.cell(value, library)
    }

    /// Asks for a condition's value. SQLite tests the condition again.
    ///
    /// - Parameters:
    ///   - index: the condition.
    ///   - argument: its place among the values of the plan, from 0.
    package func use(_ index: Int, argument: Int) { info.pointee.usage?[index].argument = Int32(argument + 1) }

    // MARK: The order

    package var orderCount: Int { info.pointee.order == nil ? 0 : Int(info.pointee.order_count) }

    package func orderColumn(_ index: Int) -> Int { info.pointee.order.map { Int($0[index].column) } ?? -1 }

    package func isDescending(_ index: Int) -> Bool { info.pointee.order.map { $0[index].is_descending != 0 } ?? false }

    /// Whether the order is for groups: equal rows come together, in any order, and none is left out.
    package var isForGroups: Bool { library.pointee.sqlite3_vtab_distinct.map { $0(info) == 1 } ?? false }

    // MARK: The answer

    /// The columns that the statement uses, a bit each; the last one stands for all from 63 on.
    package var columns: UInt64 { info.pointee.columns }

    /// Says what a plan costs: rows read, and rows found.
    package func answer(cost: Double, rows: Int, isOrdered: Bool, isUnique: Bool) {
        info.pointee.cost = cost
        info.pointee.rows = Int64(rows)
        info.pointee.is_ordered = isOrdered ? 1 : 0
        info.pointee.flags = isUnique ? 1 : 0
    }
}

/// A change of a table's row.
package struct SQLiteChange {
    /// What happens to the row.
    package enum Kind {
        case insert, update(row: Int64), remove(row: Int64)
    }

    package let kind: Kind
    /// The values by column; none for a removal.
    package let values: SQLiteArguments
    /// Whether a row that is there already is left, and not an error.
    package let ignoresConflicts: Bool
    /// Whether it replaces a row that is there already.
    package let replaces: Bool
}

/// Values that SQLite passes to a function or to a table, valid during the call.
package struct SQLiteArguments {
    private let library: UnsafePointer<csqlite_library>
    private let values: UnsafeMutablePointer<OpaquePointer>?
    package let count: Int

    init(_ library: UnsafePointer<csqlite_library>, _ values: UnsafeMutablePointer<OpaquePointer>?, _ count: Int32) {
        (self.library, self.values, self.count) = (library, values, values == nil ? 0 : max(Int(count), 0))
    }

    /// A value; NULL behind the last one.
    @inline(__always)
    package subscript(index: Int) -> SQLiteCell {
        guard index < count, let value = values?[index] else { return .null }
        return Self.cell(value, library)
    }

    /// Whether a change leaves a value as it is.
    package func isUnchanged(_ index: Int) -> Bool {
        guard index < count, let value = values?[index] else { return true }
        return library.pointee.sqlite3_value_nochange(value) != 0
    }

    /// Calls a body with each element of a list that a plan has asked for.
    package func forEach(inListAt index: Int, _ body: (SQLiteCell) throws -> Void) rethrows {
        guard index < count, let list = values?[index], let first = library.pointee.sqlite3_vtab_in_first,
            let next = library.pointee.sqlite3_vtab_in_next
        else { return }
        var element: OpaquePointer?
        var result = first(list, &element)
        while result == 0, let found = element {
            try body(Self.cell(found, library))
            result = next(list, &element)
        }
    }

    fileprivate static func cell(_ value: OpaquePointer, _ library: UnsafePointer<csqlite_library>) -> SQLiteCell {
        switch library.pointee.sqlite3_value_type(value) {
        case 1: return .integer(library.pointee.sqlite3_value_int64(value))
        case 2: return .real(library.pointee.sqlite3_value_double(value))
        case 3:
            // Read the text first, since it determines the number of bytes.
            let start = library.pointee.sqlite3_value_text(value)
            return .text(
                UnsafeBufferPointer(
                    start: start, count: start == nil ? 0 : Int(library.pointee.sqlite3_value_bytes(value))))
        case 4:
            let start = library.pointee.sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
            return .blob(
                UnsafeBufferPointer(
                    start: start, count: start == nil ? 0 : Int(library.pointee.sqlite3_value_bytes(value))))
        default: return .null
        }
    }

    func dropFirst(_ number: Int) -> SQLiteArguments {
        SQLiteArguments(library, values.map { $0 + min(number, count) }, Int32(max(count - number, 0)))
    }
}

/// The rows of a cursor that SQLite reads at the moment.
package struct SQLiteBatch {
    fileprivate let cursor: UnsafeMutablePointer<csqlite_cursor>

    /// Shows rows of a batch.
    ///
    /// - Parameters:
    ///   - rows: their numbers, by place in the batch, valid until the next batch.
    ///   - count: how many are shown.
    ///   - selection: the places of those that are shown, valid until the next batch; nil for all in order.
    ///   - isSame: whether it is the former batch, whose lanes stay.
    package func show(
        _ rows: UnsafePointer<Int64>?, count: Int, selection: UnsafePointer<UInt32>? = nil, isSame: Bool = false
    ) {
        cursor.pointee.place = 0
        cursor.pointee.count = UInt32(clamping: count)
        cursor.pointee.rows = rows
        cursor.pointee.selection = selection
        if !isSame { cursor.pointee.batch += 1 }
    }

    /// Sets the values of a column for the batch: kinds of SQLite (1 integer, 2 real, 3 text, 4 blob, 5 NULL), words
    /// (an integer, a real's bits, or a place in the bytes), and the lengths of texts and blobs.
    package func setLane(
        _ column: Int, _ kinds: UnsafePointer<UInt8>, _ words: UnsafePointer<Int64>, _ lengths: UnsafePointer<UInt32>,
        _ bytes: UnsafePointer<UInt8>?
    ) {
        cursor.pointee.lanes?[column] = csqlite_lane(
            batch: cursor.pointee.batch, kinds: kinds, words: words, lengths: lengths,
            bytes: bytes.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) })
    }
}

/// A table as SQLite's callbacks have it.
final class TableBox {
    unowned let database: SQLiteDatabase
    let table: any SQLiteTable

    init(_ database: SQLiteDatabase, _ table: any SQLiteTable) { (self.database, self.table) = (database, table) }

    static func from(_ pointer: UnsafeMutableRawPointer) -> TableBox {
        Unmanaged<TableBox>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The functions that SQLite's calls lead to. Nobody writes them after they are made.
    nonisolated(unsafe) static let methods = {
        let methods = UnsafeMutablePointer<csqlite_table_methods>.allocate(capacity: 1)
        methods.initialize(
            to: csqlite_table_methods(
                plan: { table, info in
                    let box = TableBox.from(table)
                    let plan = box.table.plan(SQLiteQuestion(info, box.database.library))
                    // 19 (a constraint) says that the plan can't be used.
                    guard plan >= 0 else { return 19 }
                    info.pointee.plan = Int32(truncatingIfNeeded: plan)
                    box.explain(plan, info)
                    return 0
                },
                open: { table, cursor in
                    let box = TableBox.from(table)
                    let lanes = UnsafeMutablePointer<csqlite_lane>.allocate(capacity: max(box.table.columnCount, 1))
                    lanes.initialize(repeating: csqlite_lane(), count: max(box.table.columnCount, 1))
                    cursor.pointee.lanes = lanes
                    return Unmanaged.passRetained(CursorBox(box)).toOpaque()
                },
                begin: { cursor, plan, count, values in
                    CursorBox.run(cursor) { box in
                        let values = SQLiteArguments(box.table.database.library, values, count)
                        try box.cursor.begin(Int(plan), values, SQLiteBatch(cursor: cursor))
                    }
                },
                next: { cursor in CursorBox.run(cursor) { try $0.cursor.next(SQLiteBatch(cursor: cursor)) } },
                read: { cursor, column in
                    CursorBox.run(cursor) { try $0.cursor.read(Int(column), SQLiteBatch(cursor: cursor)) }
                },
                close: { cursor in
                    cursor.pointee.lanes?.deallocate()
                    if let context = cursor.pointee.context { Unmanaged<CursorBox>.fromOpaque(context).release() }
                },
                update: { table, count, values, row in
                    let box = TableBox.from(table)
                    return box.database.answering(nil) { try box.change(values, count, row) }
                },
                release: { Unmanaged<TableBox>.fromOpaque($0).release() }))
        return UnsafePointer(methods)
    }()

    /// Gives SQLite the text that it shows behind the plan's number; without memory it shows none.
    private func explain(_ plan: Int, _ info: UnsafeMutablePointer<sqlite3_index_info>) {
        guard let words = table.explanation(ofPlan: plan) else { return }
        let bytes = words.utf8CString
        guard let copy = database.library.pointee.sqlite3_realloc64(nil, UInt64(bytes.count)) else { return }
        let text = copy.assumingMemoryBound(to: CChar.self)
        for (place, byte) in bytes.enumerated() { text[place] = byte }
        info.pointee.text = text
        info.pointee.frees_text = 1
    }

    private func change(
        _ values: UnsafeMutablePointer<OpaquePointer>, _ count: Int32, _ row: UnsafeMutablePointer<Int64>
    ) throws {
        let library = database.library
        let all = SQLiteArguments(library, values, count)
        func number(_ index: Int) -> Int64? { if case .integer(let number) = all[index] { number } else { nil } }
        let conflict = library.pointee.sqlite3_vtab_on_conflict(try database.handle())
        let kind: SQLiteChange.Kind
        switch (number(0), count) {
        case (let old?, 1): kind = .remove(row: old)
        case (let old?, _):
            guard number(1) == old else { throw SQLiteError(.constraint, "the number of a row cannot be changed") }
            kind = .update(row: old)
        case (nil, _):
            kind = .insert
            row.pointee = 0
        }
        try table.change(
            SQLiteChange(
                kind: kind, values: all.dropFirst(2), ignoresConflicts: conflict == 2, replaces: conflict == 5))
    }
}

/// A cursor as SQLite's callbacks have it.
private final class CursorBox {
    let table: TableBox
    let cursor: any SQLiteTableCursor

    init(_ table: TableBox) {
        self.table = table
        cursor = table.table.makeCursor()
    }

    static func run(_ cursor: UnsafeMutablePointer<csqlite_cursor>, _ body: (CursorBox) throws -> Void) -> Int32 {
        guard let context = cursor.pointee.context else { return 1 }
        return Unmanaged<CursorBox>.fromOpaque(context)._withUnsafeGuaranteedRef { box in
            box.table.database.answering(cursor.pointee.table) { try body(box) }
        }
    }
}
