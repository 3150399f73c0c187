import Files
import KeyedArchive
import PropertyList
import REPL
import SQLite

/// What a database has: its tables with their columns and rows, the archives and property lists in them, and, of the
/// database of a backup, the files under their own names.
struct DatabaseContents {
    struct Column {
        let name: String
        let type: String
        var archives = 0
        var lists = 0
        var unreadable = 0

        /// `BLOB, 2 keyed archives, 1 property list`.
        var text: String {
            var parts = type.isEmpty ? [] : [type]
            if archives > 0 { parts.append(archives.counted("keyed archive")) }
            if lists > 0 { parts.append(lists.counted("property list")) }
            if unreadable > 0 { parts.append("\(unreadable.grouped) unreadable") }
            return parts.joined(separator: ", ")
        }
    }

    /// An archive or a property list in a cell.
    struct Embedded {
        let path: CellPath
        let kind: String
        let objectCount: Int
        let error: String?
    }

    struct Table {
        let name: String
        let kind: EvidenceDatabase.Table.Kind
        var rowCount = 0
        var columns: [Column]
        /// The first ones, in the order of the rows.
        var embedded: [Embedded] = []
        var embeddedCount = 0
        /// Why not all of it was read.
        var problem: String?
    }

    /// A file of a backup.
    struct BackedUpFile {
        /// Its domain and its path there.
        let name: String
        /// Its path in the backup.
        let stored: String
        /// In bytes; nil if it is not there.
        let size: Int?
    }

    private(set) var tables: [Table] = []
    /// The files of a backup; nil for another database.
    private(set) var files: [BackedUpFile]?
    /// The classes of all instances in the archives.
    private(set) var classes: NameTable<Int> = [:]

    /// What cannot be read in the tables, and in the archives and property lists that they have.
    private(set) var problems = FileProblems()

    /// Reads a database whole.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - limit: how many archives and lists of a table are listed.
    init(_ database: EvidenceDatabase, listing limit: Int) {
        for table in database.tables { tables.append(contents(of: table, in: database, limit)) }
        files = Self.files(of: database)
    }

    private mutating func contents(
        of table: EvidenceDatabase.Table, in database: EvidenceDatabase, _ limit: Int
    ) -> Table {
        var found = Table(
            name: table.name, kind: table.kind, columns: table.columns.map { Column(name: $0.name, type: $0.type) },
            problem: table.problem)
        if let problem = table.problem { problems.add(table.name, problem) }
        var hasNamedError = false
        do {
            try database.forEachRow(of: table) { row, cell in
                found.rowCount += 1
                for index in table.columns.indices {
                    guard let result = cell(index).embedded else { continue }
                    let path = CellPath(table.name, table.columns[index].name, row)
                    let embedded = add(result, at: path, to: &found.columns[index])
                    found.embeddedCount += 1
                    // One that is damaged is always named, for the error.
                    guard found.embedded.count < limit || (embedded.error != nil && !hasNamedError) else { continue }
                    found.embedded.append(embedded)
                    if embedded.error != nil { hasNamedError = true }
                }
                return true
            }
        } catch {
            found.problem = "\(error)"
            problems.add(table.name, "\(error)")
        }
        return found
    }

    private mutating func add(
        _ result: Result<ArchiveTree, ArchiveError>, at path: CellPath, to column: inout Column
    ) -> Embedded {
        switch result {
        case .success(let tree):
            if tree.archive == nil { column.lists += 1 } else { column.archives += 1 }
            for (name, count) in tree.classCounts { classes[name, default: 0] += count }
            let damage = TreeDamage(in: tree)
            problems.add(damage, in: path)
            var error: String?
            if let place = damage.places.first {
                error = place.path.steps.isEmpty ? place.reason : "\(place.path): \(place.reason)"
            }
            return Embedded(
                path: path, kind: tree.archive == nil ? "property list" : "keyed archive",
                objectCount: tree.objectCount, error: error)
        case .failure(let error):
            column.unreadable += 1
            problems.add(path.description, error.description)
            return Embedded(path: path, kind: "property list", objectCount: 0, error: error.description)
        }
    }

    // MARK: - Backups

    /// The files that the database of a backup, `Manifest.db`, lists: an identifier, a domain and a path there. They are
    /// stored beside it, in folders of the identifiers' first two digits.
    private static func files(of database: EvidenceDatabase) -> [BackedUpFile]? {
        guard let table = database.tables.first(where: { $0.name == "Files" }),
            let identifier = table.columns.firstIndex(where: { $0.name == "fileID" }),
            let domain = table.columns.firstIndex(where: { $0.name == "domain" }),
            let path = table.columns.firstIndex(where: { $0.name == "relativePath" })
        else { return nil }
        let flags = table.columns.firstIndex { $0.name == "flags" }
        let folder = PathText.parent(of: database.path)
        let layer = PosixFileLayer()
        var files: [BackedUpFile] = []
        func text(_ cell: SQLiteCell) -> String {
            if case .text(let bytes) = cell { String(decoding: bytes, as: UTF8.self) } else { "" }
        }
        // What cannot be read is said with the tables.
        try? database.forEachRow(of: table) { _, cell in
            // Folders and links have no file of their own.
            if let flags, case .integer(let kind) = cell(flags), kind != 1 { return true }
            let name = text(cell(identifier))
            let isName =
                name.utf8.count > 2 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            let stored = isName ? "\(name.prefix(2))/\(name)" : name
            let status = isName ? try? layer.status(PathText.join(folder, stored)) : nil
            let size = status.flatMap { $0.kind == .regular ? $0.size : nil }
            files.append(BackedUpFile(name: "\(text(cell(domain)))/\(text(cell(path)))", stored: stored, size: size))
            return true
        }
        return files.sorted { $0.name < $1.name }
    }
}

// MARK: - Text

extension DatabaseContents {
    /// The number of archives of a table that are listed.
    static let listedCount = 10

    var heading: String {
        var parts = ["SQLite database"]
        for (kind, name) in [
            (EvidenceDatabase.Table.Kind.table, "table"), (.view, "view"), (.virtual, "virtual table"),
        ] {
            let count = tables.count { $0.kind == kind }
            if count > 0 { parts.append(count.counted(name)) }
        }
        if let files { parts.append("a backup's list of \(files.count.counted("file"))") }
        return parts.count == 1 ? "SQLite database, empty" : parts.joined(separator: ", ")
    }

    /// The lines of the whole database.
    ///
    /// - Parameters:
    ///   - file: the database's path, for the commands that open what is in it.
    ///   - depth: how many levels are drawn below the heading: tables, then their columns and archives.
    ///   - emit: receives a line.
    func draw(_ file: String, depth: Int, _ emit: (TreeDrawing.Line) throws -> Void) rethrows {
        try emit([(.detail, heading)])
        guard depth > 0 else { return }
        for (index, table) in tables.enumerated() {
            let isLast = index == tables.count - 1 && files == nil
            try emit([
                (.guide, isLast ? "└─ " : "├─ "), (.label, table.name), (.guide, ": "), (.detail, Self.text(table)),
            ])
            if depth > 1 { try draw(table, isLast ? "   " : "│  ", file, emit) }
        }
        guard let files else { return }
        try emit([(.guide, "└─ "), (.label, "files of the backup"), (.guide, ": "), (.detail, "\(files.count)")])
        for (index, file) in files.enumerated() where depth > 1 {
            let size = file.size.map { $0.counted("byte") } ?? "not there"
            try emit([
                (.guide, index == files.count - 1 ? "   └─ " : "   ├─ "), (.label, file.name), (.guide, ": "),
                (.string, file.stored), (file.size == nil ? .error : .detail, ", \(size)"),
            ])
        }
    }

    private static func text(_ table: Table) -> String {
        switch table.kind {
        case .table: table.rowCount.counted("row")
        case .view: "a view, whose rows are those of tables"
        case .virtual: "a virtual table, which is not asked: its contents are in other tables"
        }
    }

    private func draw(
        _ table: Table, _ indent: String, _ file: String, _ emit: (TreeDrawing.Line) throws -> Void
    ) rethrows {
        var lines: [TreeDrawing.Line] = table.columns.map { column in
            var line: TreeDrawing.Line = [(.label, column.name)]
            if !column.text.isEmpty { line += [(.guide, ": "), (.detail, column.text)] }
            return line
        }
        for embedded in table.embedded {
            var line: TreeDrawing.Line = [(.reference, embedded.path.description), (.guide, ": ")]
            if let error = embedded.error {
                line.append((.error, error))
            } else {
                line.append((.detail, "\(embedded.kind), \(embedded.objectCount.counted("object"))"))
            }
            let word = OptionWords.argument("\(file)#\(embedded.path)")
            line.append((.detail, "; cubby inspect \(word)"))
            lines.append(line)
        }
        let rest = table.embeddedCount - table.embedded.count
        if rest > 0 {
            lines.append([
                (.detail, "\(rest.counted("more archive or list", "more archives and lists")): --full names all")
            ])
        }
        if let problem = table.problem { lines.append([(.error, problem)]) }
        for (index, line) in lines.enumerated() {
            try emit([(.guide, indent + (index == lines.count - 1 ? "└─ " : "├─ "))] + line)
        }
    }
}

// MARK: - JSON

extension DatabaseContents {
    /// The contents as a JSON object.
    var json: PlainValue {
        var entries: [(key: String, value: PlainValue)] = [("tables", .array(tables.map(Self.json)))]
        if let files {
            let list = files.map { file in
                PlainValue.object([
                    ("file", .text(file.name)), ("stored", .text(file.stored)),
                    ("size", file.size.map { .count($0) } ?? .null),
                ])
            }
            entries.append(("files", .array(list)))
        }
        return .object(entries)
    }

    private static func json(_ table: Table) -> PlainValue {
        var entries: [(key: String, value: PlainValue)] = [
            ("name", .text(table.name)), ("kind", .text(table.kind.rawValue)),
        ]
        if table.kind == .table {
            entries += [("rows", .count(table.rowCount)), ("columns", .array(table.columns.map(json)))]
        }
        if !table.embedded.isEmpty { entries.append(("embedded", .array(table.embedded.map(json)))) }
        if let problem = table.problem { entries.append(("error", .text(problem))) }
        return .object(entries)
    }

    private static func json(_ column: Column) -> PlainValue {
        let counts = [("archives", column.archives), ("lists", column.lists), ("unreadable", column.unreadable)]
        return .object(
            [("name", .text(column.name)), ("type", .text(column.type))]
                + counts.filter { $0.1 > 0 }.map { ($0, .count($1)) })
    }

    private static func json(_ embedded: Embedded) -> PlainValue {
        let error = embedded.error.map { [(key: "error", value: PlainValue.text($0))] } ?? []
        return .object(
            [
                ("path", .text(embedded.path.description)), ("kind", .text(embedded.kind)),
                ("objects", .count(embedded.objectCount)),
            ] + error)
    }
}

extension PlainValue {
    fileprivate static func text(_ text: String) -> PlainValue { .string(Array(text.utf8)) }
    fileprivate static func count(_ count: Int) -> PlainValue { .integer(Int128(count)) }
}
