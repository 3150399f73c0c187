import CPlatform
import Files
import Glibc
import Items
import PropertyList
import SQLite

/// An SQLite database that is read and never written, with nothing made beside it.
///
/// A database without a journal is opened where it is, for reading. One with a journal or a write-ahead log beside it, or
/// in the mode of one, is read from a private copy of all of them in the folder for temporary files, where SQLite
/// completes or undoes what the journal has. The copy is of one moment: it is made anew if a file has changed meanwhile.
final class EvidenceDatabase {
    /// A table of the database, or a view.
    struct Table {
        enum Kind: String {
            case table, view
            /// Its rows are made by SQLite from other tables, which are read.
            case virtual
        }

        let name: String
        let kind: Kind
        /// Names and declared types, which may be empty.
        let columns: [(name: String, type: String)]
        /// The name by which statements have the number of a row; nil for a table without.
        fileprivate let rowNumber: String?
        /// Why it cannot be read.
        var problem: String?
    }

    /// The place of a row in its table: SQLite's number, or the position in a table without numbers, from 1.
    enum Row: Hashable {
        case number(Int64)
        case position(Int)

        /// As a path has it, in brackets.
        var text: String {
            switch self {
            case .number(let number): "\(number)"
            case .position(let position): "row \(position)"
            }
        }
    }

    let path: String
    /// The database's own file, then the journal and the log that were read with it.
    let parts: [Provenance.Source]
    private(set) var tables: [Table] = []
    private let database: SQLiteDatabase
    private let work: WorkFolder?
    private let state: [FileState?]

    private static let suffixes = ["", "-journal", "-wal"]
    private static let tries = 20
    /// The pause between two tries, in microseconds.
    private static let pause: UInt32 = 50_000

    /// SHA-256 of the file, in hexadecimal digits.
    var digest: String { parts[0].digest }

    // MARK: - Recognition

    /// Whether bytes begin like a database.
    static func isBeginning(of bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: "SQLite format 3\0".utf8) }

    /// Whether a regular file at a path begins like one.
    static func isDatabase(_ path: String) -> Bool {
        let layer = PosixFileLayer()
        guard path != "-", let found = resolved(path), (try? layer.status(found))?.kind == .regular,
            let file = try? layer.open(found, .read)
        else { return false }
        defer { layer.close(file) }
        return (try? layer.beginning(of: file, count: 16))?.withUnsafeBytes(isBeginning) ?? false
    }

    /// The database to whose journal, log or shared memory a name belongs; nil for another file.
    static func owner(ofSide path: String) -> String? {
        for suffix in ["-journal", "-wal", "-shm"] where path.hasSuffix(suffix) {
            let owner = String(path.dropLast(suffix.count))
            if isDatabase(owner) { return owner }
        }
        return nil
    }

    private static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }

    // MARK: - Opening

    /// Opens a database.
    ///
    /// - Parameter path: its path; a link is followed.
    /// - Throws: `FileError`; `SQLiteError`, such as `notADatabase`, `unavailable`, and `busy` for one that changes all the
    ///   time.
    init(_ path: String) throws {
        self.path = path
        guard let place = Self.resolved(path) else { throw FileError(.open, path, code: errno) }
        var tries = 0
        while true {
            let before = try Self.state(of: place)
            let (parts, work) = try Self.read(place, path, before)
            if try Self.state(of: place) == before {
                (self.parts, self.work, state) = (parts, work, before)
                break
            }
            tries += 1
            guard tries < Self.tries else {
                throw SQLiteError(.busy, "it is written to all the time, and was not read as a whole")
            }
            usleep(Self.pause)
        }
        if let work {
            // SQLite completes what the log has, or undoes what the journal began.
            let copy = work.file("database")
            let writable = try SQLiteDatabase(path: copy, temporaryFolder: work.path, isReadOnly: false)
            try writable.execute("pragma journal_mode = delete")
            writable.close()
            database = try SQLiteDatabase(path: copy, temporaryFolder: work.path, isReadOnly: true)
        } else {
            database = try SQLiteDatabase(
                path: place, temporaryFolder: Self.temporaryFolder(for: place), isReadOnly: true)
        }
        tables = try readTables()
    }

    /// Whether the database's files are as they were before it was read.
    var isUnchanged: Bool {
        guard let place = Self.resolved(path), let now = try? Self.state(of: place) else { return false }
        return now == state
    }

    /// What is different after a change of a file.
    private struct FileState: Equatable {
        let inode: UInt64
        let size: Int
        let modified: Int64
    }

    private static func state(of place: String) throws(FileError) -> [FileState?] {
        let states = try suffixes.map { (suffix) throws(FileError) -> FileState? in
            guard let status = try PosixFileLayer().status(place + suffix), status.kind == .regular else { return nil }
            return FileState(inode: status.inode, size: status.size, modified: status.modified)
        }
        guard states[0] != nil else { throw FileError(.open, place, code: EACCES, reason: "it is not a regular file") }
        return states
    }

    /// The folder for temporary files, which is never the database's own.
    private static func temporaryFolder(for place: String) -> String {
        let given = ProcessSurroundings.current.value("TMPDIR") ?? ""
        let folders = ([given].filter { $0.hasPrefix("/") } + ["/tmp", "/var/tmp"]).compactMap(resolved)
        return folders.first { $0 != PathText.parent(of: place) } ?? "/tmp"
    }

    /// The digests of the files, and a private copy of them if SQLite would need more than reading.
    private static func read(
        _ place: String, _ path: String, _ state: [FileState?]
    ) throws(FileError) -> ([Provenance.Source], WorkFolder?) {
        let layer = PosixFileLayer()
        let file = try layer.open(place, .read)
        defer { layer.close(file) }
        let header = try layer.beginning(of: file, count: 20)
        let isLogged = header.count == 20 && (header[18] == 2 || header[19] == 2)
        let needsCopy = isLogged || zip(suffixes, state).contains { $0 != "" && ($1?.size ?? 0) > 0 }
        let work =
            needsCopy
            ? try WorkFolder(beside: PathText.join(temporaryFolder(for: place), "database"), using: layer) : nil
        var parts: [Provenance.Source] = []
        for (suffix, state) in zip(suffixes, state) where suffix.isEmpty || (state?.size ?? 0) > 0 {
            let (size, digest) = try copy(place + suffix, to: work.map { ($0.layer, $0.file("database" + suffix)) })
            let kind =
                switch suffix {
                case "-journal": "journal of an SQLite database"
                case "-wal": "write-ahead log of an SQLite database"
                default: "SQLite database"
                }
            parts.append(Provenance.Source(file: path + suffix, size: size, digest: digest, kind: kind))
        }
        return (parts, work)
    }

    /// Reads a file whole, and copies it if there is a target.
    private static func copy(
        _ source: String, to target: (layer: any FileLayer, path: String)?
    ) throws(FileError) -> (size: Int, digest: String) {
        let layer = PosixFileLayer()
        let from = try layer.open(source, .read)
        defer { layer.close(from) }
        let to: OpenFile? =
            if let target { try target.layer.open(target.path, .createNew, permissions: 0o600) } else { nil }
        defer { if let target, let to { target.layer.close(to) } }
        var digest = SHA256()
        var size = 0
        try layer.forEachPiece(of: from) { (piece) throws(FileError) in
            digest.update(piece)
            size += piece.count
            if let target, let to { try target.layer.writeAll(piece.bytes, to: to) }
        }
        return (size, digest.finish().hexadecimal)
    }

    // MARK: - Tables

    private func readTables() throws(SQLiteError) -> [Table] {
        let statement = try SQLiteStatement(
            database,
            "select name, type, sql from sqlite_master where type in ('table', 'view') and name not glob 'sqlite_*' order by name"
        )
        var found: [(name: String, kind: Table.Kind)] = []
        while try statement.step() {
            guard case .text(let name) = statement.cell(0), case .text(let type) = statement.cell(1) else { continue }
            var kind: Table.Kind = type.elementsEqual("view".utf8) ? .view : .table
            if case .text(let sql) = statement.cell(2),
                String(decoding: sql.prefix(64), as: UTF8.self).lowercased().hasPrefix("create virtual")
            {
                kind = .virtual
            }
            found.append((String(decoding: name, as: UTF8.self), kind))
        }
        return found.map { table($0.name, $0.kind) }
    }

    private func table(_ name: String, _ kind: Table.Kind) -> Table {
        guard kind == .table else { return Table(name: name, kind: kind, columns: [], rowNumber: nil) }
        do throws(SQLiteError) {
            let all = try SQLiteStatement(database, "select * from \(SQLiteDatabase.quoted(name)) not indexed")
            let columns = all.columns.enumerated().map { (name: $1, type: all.declaredType($0) ?? "") }
            let taken = columns.map { $0.name.lowercased() }
            let free = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
            let number = free.flatMap { free in
                (try? SQLiteStatement(database, "select \(free) from \(SQLiteDatabase.quoted(name))")) == nil
                    ? nil : free
            }
            return Table(name: name, kind: kind, columns: columns, rowNumber: number)
        } catch {
            return Table(name: name, kind: kind, columns: [], rowNumber: nil, problem: error.message)
        }
    }

    /// The table with a name; SQLite does not distinguish letters of the other case.
    func table(named name: String) -> Table? {
        tables.first { $0.name == name } ?? tables.first { $0.name.lowercased() == name.lowercased() }
    }

    /// What SQLite's own check of all pages finds.
    func faults() throws(SQLiteError) -> [String] {
        let statement = try SQLiteStatement(database, "pragma integrity_check")
        var faults: [String] = []
        while try statement.step() {
            if case .text(let text) = statement.cell(0) { faults.append(String(decoding: text, as: UTF8.self)) }
        }
        return faults == ["ok"] ? [] : faults
    }

    // MARK: - Rows

    /// Reads the rows of a table in order, a cell for each column.
    ///
    /// - Parameters:
    ///   - table: a table of this database; views and virtual tables have no rows of their own.
    ///   - body: takes a row's place and its cells by column, which are valid during the call; false ends the reading.
    /// - Throws: `SQLiteError`, behind the rows that can be read; the errors of `body`.
    func forEachRow(of table: Table, _ body: (Row, (Int) -> SQLiteCell) throws -> Bool) throws {
        guard table.kind == .table, table.problem == nil else { return }
        let columns = table.rowNumber.map { "\($0), *" } ?? "*"
        let statement = try SQLiteStatement(
            database, "select \(columns) from \(SQLiteDatabase.quoted(table.name)) not indexed")
        let first = table.rowNumber == nil ? 0 : 1
        var position = 0
        while try statement.step() {
            position += 1
            var row = Row.position(position)
            if first == 1, case .integer(let number) = statement.cell(0) { row = .number(number) }
            if try !body(row, { statement.cell($0 + first) }) { return }
        }
    }

    /// The value of a cell; a text that is not UTF-8 is data.
    ///
    /// - Returns: nil if there is no such row.
    func value(_ table: Table, _ column: Int, _ row: Row) throws -> PropertyListValue? {
        func value(of cell: SQLiteCell) -> PropertyListValue {
            if case .text(let bytes) = cell { return cell.value ?? .data(Array(bytes)) }
            return cell.value ?? .null
        }
        if case .number(let number) = row, let name = table.rowNumber {
            let statement = try SQLiteStatement(
                database,
                "select \(SQLiteDatabase.quoted(table.columns[column].name)) from \(SQLiteDatabase.quoted(table.name)) where \(name) = ?"
            )
            try statement.bind([.integer(number)])
            return try statement.step() ? value(of: statement.cell(0)) : nil
        }
        var found: PropertyListValue?
        try forEachRow(of: table) { place, cell in
            if place == row { found = value(of: cell(column)) }
            return place != row
        }
        return found
    }
}

extension EvidenceDatabase {
    /// What prevents a database from being read.
    static func message(_ error: any Error) -> String {
        switch error {
        case let error as FileError: error.message
        case let error as SQLiteError: error.message
        default: "\(error)"
        }
    }

    /// The exit status of such an error.
    static func status(_ error: any Error) -> ExitStatus {
        switch error {
        case is FileError: .inputOutput
        case let error as SQLiteError:
            switch error.code {
            case .unavailable: .unavailable
            case .busy, .locked, .permission, .cannotOpen, .inputOutput, .full: .inputOutput
            default: .badData
            }
        default: .badData
        }
    }
}
