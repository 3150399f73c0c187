import Application
import ArgumentParser
import Files
import Glibc
import Images
import ItemArchive
import Items
import KeyedArchive
import PropertyList
import REPL
import SQLite

/// `cubby inspect FILE.sqlite`: its tables, and what their cells have.
struct DatabaseInspection {
    private let path: String
    private let database: EvidenceDatabase
    private let provenance: Provenance

    /// - Throws: the exit status, after a message.
    init(_ path: String, _ provenance: Provenance) throws {
        (self.path, self.provenance) = (path, provenance)
        do {
            database = try EvidenceDatabase(path)
            provenance.record(database.parts)
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
            faults += contents.problems.texts
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
        if xml { throw CommandFailure.exit(.usage, "a database is not a property list: --json shows its tables") }
        let contents = DatabaseContents(database, listing: full ? .max : DatabaseContents.listedCount)
        if json {
            output.append(json: PlainValueJSON.bytes(contents.json) + [0x0A])
        } else {
            try contents.draw(path, depth: depth) { line in
                output.line(line)
                if output.isClosed { throw ExitCode.success }
            }
        }
        output.flush()
        var problems = contents.problems
        if !database.isUnchanged { problems.add("", "it changed while it was read") }
        try provenance.recordUnread(path, problems)
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

    /// Why a cell cannot be read.
    private struct CellError: Error {
        let message: String
        var status = ExitStatus.scriptError
    }

    /// What a cell has.
    enum Contents {
        /// An archive or a property list, and the path in it.
        case tree(ArchiveTree, TreePath)
        /// A number, a text, or other data.
        case plain(PropertyListValue)
    }

    /// Reads the cell.
    ///
    /// - Parameter provenance: records the database's files.
    /// - Returns: what it has, and the word that names the cell alone.
    /// - Throws: the exit status, after a message.
    func open(_ provenance: Provenance) throws -> (contents: Contents, name: String) {
        let cell: CellPath
        let found: PropertyListValue
        do throws(CellError) {
            cell = try parsed()
            found = try value(of: cell, provenance)
        } catch {
            provenance.recordUnread(file, path, reason: error.message)
            throw CommandFailure.exit(error.status, error.message)
        }
        let bytes =
            switch found {
            case .data(let bytes): bytes
            case .string(let text): Array(text.utf8)
            default: [UInt8]()
            }
        switch bytes.withUnsafeBufferPointer({ ArchiveTree.embedded(inCell: $0, isText: false) }) {
        case .success(let tree)?:
            return (.tree(tree, cell.inner), "\(file)#\(CellPath(cell.table, cell.column, cell.row))")
        case .failure(let error)?:
            provenance.recordUnread(file, cell.description, reason: error.description)
            throw CommandFailure.exit(.badData, "\(name): \(error.description)")
        case nil:
            if cell.inner.steps.isEmpty { return (.plain(found), name) }
            throw noTree(found)
        }
    }

    /// The error of a path in a cell that has no archive.
    func noTree(_ value: PropertyListValue) -> ExitCode {
        let text = LeafText(limit: 60).text(value)
        return CommandFailure.exit(.badData, "\(name): it has no archive and no property list, but \(text)")
    }

    /// The bytes of the cell, in the place of a file's.
    func bytes(_ provenance: Provenance?) throws(FileError) -> [UInt8] {
        do throws(CellError) {
            let cell = try parsed()
            guard cell.inner.steps.isEmpty else {
                throw CellError(message: "the path goes on in the cell, which only cubby inspect shows", status: .usage)
            }
            switch try value(of: cell, provenance) {
            case .data(let bytes): return bytes
            case .string(let text): return Array(text.utf8)
            default: throw CellError(message: "it is a number, which no file has in its place", status: .badData)
            }
        } catch {
            throw FileError(.read, name, code: EINVAL, reason: error.message)
        }
    }

    private func parsed() throws(CellError) -> CellPath {
        do throws(ArchiveError) { return try CellPath(path) } catch {
            throw CellError(message: error.message, status: .usage)
        }
    }

    /// The value of a cell, which is not NULL.
    private func value(of cell: CellPath, _ provenance: Provenance?) throws(CellError) -> PropertyListValue {
        let database: EvidenceDatabase
        do {
            database = try EvidenceDatabase(file)
        } catch {
            let message = EvidenceDatabase.message(error)
            throw CellError(
                message: error is FileError ? message : "\(file): \(message)", status: EvidenceDatabase.status(error))
        }
        provenance?.record(database.parts)
        guard let table = database.table(named: cell.table) else {
            let names = database.tables.map(\.name)
            throw CellError(
                message: "\(file): there is no table '\(cell.table)'\(Self.hint(cell.table, names))")
        }
        guard table.kind == .table else {
            throw CellError(
                message: "\(file): \(table.name) is a \(table.kind.rawValue), whose rows are those of other tables")
        }
        let column =
            table.columns.firstIndex { $0.name == cell.column }
            ?? table.columns.firstIndex { $0.name.lowercased() == cell.column.lowercased() }
        guard let column else {
            let names = table.columns.map(\.name)
            throw CellError(
                message: "\(file): \(table.name) has no column '\(cell.column)'\(Self.hint(cell.column, names))")
        }
        let found: PropertyListValue?
        do { found = try database.value(table, column, cell.row) } catch {
            throw CellError(message: "\(file): \(EvidenceDatabase.message(error))", status: .badData)
        }
        guard let found else {
            throw CellError(message: "\(file): there is no such row in \(table.name): \(cell.row.text)")
        }
        if found == .null { throw CellError(message: "\(name): it is NULL") }
        return found
    }

    private static func hint(_ name: String, _ names: [String]) -> String {
        let hint = NearestNames.hint(for: name, among: names)
        let known = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
        return hint.isEmpty ? ": there is \(known)" : hint
    }
}

/// `cubby inspect CONTAINER`: its items and their archive.
struct ContainerInspection {
    private let container: ApplicationContainer
    private let layer: any FileLayer
    /// The path of the items' archive; nil if nothing was saved yet.
    let archive: String?

    static func isFolder(_ path: String) -> Bool {
        !path.isEmpty && path != "-" && PosixFileLayer().exists(PathText.join(path, "."))
    }

    /// - Throws: the exit status, after a message, for a folder that is no container.
    init(_ path: String) throws {
        container = ApplicationContainer(path: path)
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            throw CommandFailure.exit(
                .usage,
                "\(path) is a folder and no container: --json-lines shows each of its files, --find finds a text in them, "
                    + "cubby timeline lists their dates")
        }
        do throws(FileError) { layer = try container.openExisting() } catch { throw CommandFailure.exit(error) }
        let persistence = ArchivePersistence(folder: container.documents, using: layer, isReadOnly: true)
        archive = layer.exists(persistence.path) ? persistence.path : nil
    }

    /// The lines before the archive's tree: how many items there are, and what is not in the archive yet.
    func heading() -> [TreeDrawing.Line] {
        var lines: [TreeDrawing.Line] = [[(.label, container.displayPath), (.guide, ": "), (.detail, "a container")]]
        let persistence = ArchivePersistence(folder: container.documents, using: layer, isReadOnly: true)
        var hasCommits = false
        do throws(StoreError) {
            let store = try ItemStore.open(persistence, schema: OwnFields.schema(of: container))
            let report = store.loadReport
            var text = store.count.counted("item")
            hasCommits = report.replayedRecords > 0
            if hasCommits {
                text +=
                    "; \(report.archivedItems.grouped) in the archive, the rest by "
                    + "\(report.replayedRecords.counted("commit")) of the journal"
            }
            lines.append([(.label, "items"), (.guide, ": "), (.detail, text)])
        } catch {
            lines.append([(.label, "items"), (.guide, ": "), (.error, error.message)])
        }
        lines.append(
            [(.label, "archive"), (.guide, ": ")]
                + (archive.map { [(.string, DisplayPath.abbreviate($0))] } ?? [(.detail, "none yet: nothing was saved")])
        )
        if hasCommits {
            lines.append(
                [(.label, "journal"), (.guide, ": "), (.string, DisplayPath.abbreviate(persistence.journalPath))])
        }
        return lines
    }
}
