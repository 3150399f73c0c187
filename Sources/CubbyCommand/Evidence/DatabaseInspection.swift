import ArgumentParser
import Files
import KeyedArchive
import PropertyList
import SQLite

/// `cubby inspect FILE.sqlite`: its tables, and what their cells have.
struct DatabaseInspection {
    private let path: String
    private let database: EvidenceDatabase
    private let provenance: Provenance

    /// - Throws: the exit status, after a message.
    init(_ path: String, _ provenance: Provenance) throws {
        (self.path, self.provenance) = (path, provenance)
        database = try Self.open(path, provenance)
    }

    /// Opens a database.
    ///
    /// - Throws: the exit status, after a message.
    static func open(_ path: String, _ provenance: Provenance) throws -> EvidenceDatabase {
        do {
            let database = try EvidenceDatabase(path)
            provenance.record(database.parts)
            return database
        } catch {
            let message = EvidenceDatabase.message(error)
            provenance.recordUnread(path, reason: message)
            throw CommandFailure.exit(
                EvidenceDatabase.status(error), error is FileError ? message : "\(path): \(message)")
        }
    }

    /// Reports what SQLite's own check finds, and what cannot be read in the tables.
    ///
    /// - Throws: the exit status if there is something.
    static func check(_ path: String, _ provenance: Provenance) throws {
        var faults: [String] = []
        var heading = "an SQLite database"
        do {
            let database = try EvidenceDatabase(path)
            provenance.record(database.parts)
            let contents = DatabaseContents(database, listing: DatabaseContents.listedCount)
            heading = contents.heading
            do { faults = try database.faults() } catch { faults = [error.message] }
            if let problem = contents.problem { faults.append(problem) }
        } catch {
            faults = [EvidenceDatabase.message(error)]
        }
        Report.line("\(path): \(heading)\(faults.isEmpty ? ", nothing wrong" : "")")
        for fault in faults {
            Report.line("  error: \(fault)")
            provenance.recordUnread(path, reason: fault)
        }
        if !faults.isEmpty { throw ExitCode(ExitStatus.badData.rawValue) }
    }

    /// - Throws: the exit status for a database that cannot be read whole.
    func show(_ output: TextOutput, json: Bool, xml: Bool, full: Bool, depth: Int) throws {
        if xml { throw ValidationError("A database is not a property list: --json shows its tables.") }
        let contents = DatabaseContents(database, listing: full ? .max : DatabaseContents.listedCount)
        if json {
            var text = JSONText(.lines)
            contents.append(to: &text)
            text.append("\n")
            output.append(json: text.take())
        } else {
            try contents.draw(path, depth: depth) { line in
                output.line(line)
                if output.isClosed { throw ExitCode.success }
            }
        }
        output.flush()
        var problem = contents.problem
        if problem == nil, !database.isUnchanged { problem = "it changed while it was read" }
        guard let problem else { return }
        provenance.recordUnread(path, reason: problem)
        throw CommandFailure.exit(.badData, "\(path): \(problem)")
    }
}

/// A cell of a database: `FILE.sqlite#table.column[rowid]`, and perhaps a path in the archive that it has.
struct CellReference {
    private let file: String
    private let path: String
    /// Whether the file's own word names the cell.
    let isNamed: Bool

    /// Nil for a word without a database and a cell. A file whose own name has the sign is that file.
    init?(_ word: String) {
        guard word != "-", !PosixFileLayer().exists(word) else { return nil }
        var place = word.utf8.startIndex
        while let mark = word.utf8[place...].firstIndex(of: UInt8(ascii: "#")) {
            let file = String(word[..<mark])
            let next = word.utf8.index(after: mark)
            if EvidenceDatabase.isDatabase(file) {
                (self.file, path, isNamed) = (file, String(word[next...]), true)
                return
            }
            place = next
        }
        return nil
    }

    init(file: String, path: String) { (self.file, self.path, isNamed) = (file, path, false) }

    private var name: String { "\(file)#\(path)" }

    /// Opens the archive or the property list in the cell.
    ///
    /// - Returns: it, the word that names the cell alone, and the path in it.
    /// - Throws: the exit status, after a message.
    func open(_ provenance: Provenance) throws -> (tree: ArchiveTree, name: String, path: TreePath) {
        let cell: CellPath
        do throws(ArchiveError) { cell = try CellPath(path) } catch { throw ValidationError(error.message) }
        let database = try DatabaseInspection.open(file, provenance)
        let bytes = try bytes(of: cell, in: database)
        switch bytes.withUnsafeBufferPointer({ ArchiveTree.embedded(inCell: $0, isText: false) }) {
        case .success(let tree)?:
            return (tree, "\(file)#\(CellPath(cell.table, cell.column, cell.row))", cell.inner)
        case .failure(let error)?:
            provenance.recordUnread(file, cell.description, reason: error.description)
            throw CommandFailure.exit(.badData, "\(name): \(error.description)")
        case nil:
            throw CommandFailure.exit(
                .badData,
                "\(name): it has no archive and no property list, but \(bytes.count.counted("byte")): "
                    + LeafText(limit: 60).text(.data(bytes)))
        }
    }

    private func bytes(of cell: CellPath, in database: EvidenceDatabase) throws -> [UInt8] {
        guard let table = database.table(named: cell.table) else {
            let names = database.tables.map(\.name)
            throw CommandFailure.exit(
                .scriptError, "\(file): there is no table '\(cell.table)'\(Self.hint(cell.table, names))")
        }
        guard table.kind == .table else {
            throw CommandFailure.exit(
                .scriptError, "\(file): \(table.name) is a \(table.kind.rawValue), whose rows are those of other tables"
            )
        }
        let column =
            table.columns.firstIndex { $0.name == cell.column }
            ?? table.columns.firstIndex { $0.name.lowercased() == cell.column.lowercased() }
        guard let column else {
            throw CommandFailure.exit(
                .scriptError,
                "\(file): \(table.name) has no column '\(cell.column)'\(Self.hint(cell.column, table.columns.map(\.name)))"
            )
        }
        do {
            if let bytes = try database.bytes(table, column, cell.row) { return bytes }
        } catch let error as SQLiteError {
            throw CommandFailure.exit(.badData, "\(file): \(error.message)")
        }
        throw CommandFailure.exit(
            .scriptError, "\(name): there is no such row, or it has no text and no data in that column")
    }

    private static func hint(_ name: String, _ names: [String]) -> String {
        let hint = NearestNames.hint(for: name, among: names)
        let known = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
        return hint.isEmpty ? ": there is \(known)" : hint
    }
}
