internal import CSQLite

/// An aggregate function at work on one group, or on the frame of a window.
package protocol SQLiteAggregate: AnyObject {
    /// Adds a row.
    func add(_ values: SQLiteArguments) throws
    /// Removes the row that was added first of those that are left: a frame has moved on.
    func remove(_ values: SQLiteArguments) throws
    /// The value of the rows; others may come, and these go.
    func value() throws -> SQLiteValue
}

extension SQLiteDatabase {
    /// Adds a function, or replaces one with the same name and number of arguments; without a body it is removed.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - count: the number of its arguments; -1 for any.
    ///   - isFixed: whether it gives the same value for the same arguments.
    ///   - body: its value. An error ends the statement.
    /// - Throws: `SQLiteError`, such as `busy` while a statement is being run.
    package func addFunction(
        _ name: String, count: Int, isFixed: Bool, _ body: ((SQLiteArguments) throws -> SQLiteValue)?
    ) throws(SQLiteError) {
        let box = body.map { Unmanaged.passRetained(FunctionBox(self, $0)).toOpaque() }
        let result = library.pointee.sqlite3_create_function_v2(
            try handle(), name, Int32(count), Self.flags | (isFixed && body != nil ? Self.fixed : 0), box,
            body == nil
                ? nil
                : { context, count, values in
                    FunctionBox.of(context) { box, library in
                        FunctionBox.answer(context, box, library) {
                            try box.body(SQLiteArguments(library, values, count))
                        }
                    }
                }, nil, nil, FunctionBox.release)
        if result != 0 { throw failure(result) }
    }

    /// UTF-8, and harmless in views and triggers.
    private static let flags: Int32 = 1 | 0x20_0000
    private static let fixed: Int32 = 0x800

    /// Adds an aggregate function, which windows have, too.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - count: the number of its arguments.
    ///   - make: begins a group.
    /// - Throws: `SQLiteError`.
    package func addAggregate(
        _ name: String, count: Int, _ make: @escaping () -> any SQLiteAggregate
    ) throws(SQLiteError) {
        let box = Unmanaged.passRetained(FunctionBox(self, make: make)).toOpaque()
        let result = library.pointee.sqlite3_create_window_function(
            try handle(), name, Int32(count), Self.flags | Self.fixed, box,
            { context, count, values in
                FunctionBox.of(context) { box, library in
                    guard let group = box.group(context, library, begins: true) else {
                        return library.pointee.sqlite3_result_error_nomem(context)
                    }
                    FunctionBox.change(context, box, library) {
                        try group.add(SQLiteArguments(library, values, count))
                    }
                }
            },
            { context in
                FunctionBox.of(context) { box, library in
                    box.answerGroup(context, library)
                    box.end(context, library)
                }
            },
            { context in FunctionBox.of(context) { box, library in box.answerGroup(context, library) } },
            { context, count, values in
                FunctionBox.of(context) { box, library in
                    guard let group = box.group(context, library, begins: false) else { return }
                    FunctionBox.change(context, box, library) {
                        try group.remove(SQLiteArguments(library, values, count))
                    }
                }
            }, FunctionBox.release)
        if result != 0 { throw failure(result) }
    }
}

/// A function as SQLite's callbacks have it.
private final class FunctionBox {
    unowned let database: SQLiteDatabase
    let body: (SQLiteArguments) throws -> SQLiteValue
    /// Begins a group of an aggregate; nil for another function.
    private let make: (() -> any SQLiteAggregate)?

    init(
        _ database: SQLiteDatabase, _ body: @escaping (SQLiteArguments) throws -> SQLiteValue = { _ in .null },
        make: (() -> any SQLiteAggregate)? = nil
    ) {
        (self.database, self.body, self.make) = (database, body, make)
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { box in
        if let box { Unmanaged<FunctionBox>.fromOpaque(box).release() }
    }

    static func of(
        _ context: OpaquePointer, _ body: (FunctionBox, UnsafePointer<csqlite_library>) -> Void
    ) {
        var reason: UnsafePointer<CChar>?
        guard let library = SQLiteDatabase.loadedLibrary(&reason),
            let data = library.pointee.sqlite3_user_data(context)
        else { return }
        Unmanaged<FunctionBox>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0, library) }
    }

    // MARK: Groups

    /// The group that SQLite works on; made if it begins.
    func group(
        _ context: OpaquePointer, _ library: UnsafePointer<csqlite_library>, begins: Bool
    ) -> (any SQLiteAggregate)? {
        let size = MemoryLayout<UnsafeMutableRawPointer?>.size
        guard
            let place = library.pointee.sqlite3_aggregate_context(context, begins ? Int32(size) : 0)?
                .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        else { return nil }
        if let found = place.pointee { return Unmanaged<GroupBox>.fromOpaque(found).takeUnretainedValue().group }
        guard begins, let make else { return nil }
        let box = GroupBox(make())
        place.pointee = Unmanaged.passRetained(box).toOpaque()
        return box.group
    }

    /// Gives SQLite the value of the group, or that of one without rows.
    func answerGroup(_ context: OpaquePointer, _ library: UnsafePointer<csqlite_library>) {
        guard let group = group(context, library, begins: false) ?? make?() else { return }
        Self.answer(context, self, library) { try group.value() }
    }

    /// Frees the group.
    func end(_ context: OpaquePointer, _ library: UnsafePointer<csqlite_library>) {
        guard
            let place = library.pointee.sqlite3_aggregate_context(context, 0)?
                .assumingMemoryBound(to: UnsafeMutableRawPointer?.self), let found = place.pointee
        else { return }
        place.pointee = nil
        Unmanaged<GroupBox>.fromOpaque(found).release()
    }

    private final class GroupBox {
        let group: any SQLiteAggregate
        init(_ group: any SQLiteAggregate) { self.group = group }
    }

    // MARK: Results

    /// Changes a group; an error ends the statement.
    static func change(
        _ context: OpaquePointer, _ box: FunctionBox, _ library: UnsafePointer<csqlite_library>,
        _ body: () throws -> Void
    ) {
        do { try body() } catch { fail(context, box, library, error) }
    }

    static func answer(
        _ context: OpaquePointer, _ box: FunctionBox, _ library: UnsafePointer<csqlite_library>,
        _ body: () throws -> SQLiteValue
    ) {
        let value: SQLiteValue
        do { value = try body() } catch { return fail(context, box, library, error) }
        let copied = unsafeBitCast(-1, to: csqlite_destructor.self)
        switch value {
        case .null: library.pointee.sqlite3_result_null(context)
        case .integer(let number): library.pointee.sqlite3_result_int64(context, number)
        case .real(let number) where number.isNaN: fail(context, box, library, SQLiteStatement.notANumber)
        case .real(let number): library.pointee.sqlite3_result_double(context, number)
        case .text(let bytes):
            guard let count = Int32(exactly: bytes.count) else {
                return library.pointee.sqlite3_result_error_toobig(context)
            }
            bytes.withUnsafeBytes {
                if let start = $0.baseAddress {
                    library.pointee.sqlite3_result_text(
                        context, start.assumingMemoryBound(to: CChar.self), count, copied)
                } else {
                    library.pointee.sqlite3_result_text(context, "", 0, copied)
                }
            }
        case .blob(let bytes):
            guard let count = Int32(exactly: bytes.count) else {
                return library.pointee.sqlite3_result_error_toobig(context)
            }
            bytes.withUnsafeBytes {
                library.pointee.sqlite3_result_blob(context, $0.baseAddress ?? UnsafeRawPointer(library), count, copied)
            }
        }
    }

    static func fail(
        _ context: OpaquePointer, _ box: FunctionBox, _ library: UnsafePointer<csqlite_library>, _ error: any Error
    ) {
        box.database.record(error)
        library.pointee.sqlite3_result_error(context, "\(error)", -1)
    }
}
