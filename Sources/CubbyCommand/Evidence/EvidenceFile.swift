import Application
import Files
import ItemArchive
import Items
import KeyedArchive
import PropertyList
import SQLite
import Scripting

/// A file on a command line, or in a folder of one, as what it is.
enum EvidenceFile {
    /// The bytes of a property list or of a container's journal, or of a named file that begins like neither.
    case propertyList([UInt8])
    case database
    /// Why a file in a folder is not read.
    case passedOver(String)

    /// Reads a file far enough to tell its kind; a property list whole.
    ///
    /// - Parameters:
    ///   - entry: the file.
    ///   - provenance: records the files of the database whose cell is named.
    /// - Throws: `FileError` when it cannot be read.
    init(_ entry: FileTree.Entry, _ provenance: Provenance?) throws(FileError) {
        if let problem = entry.problem { throw problem }
        if let omission = entry.omission {
            self = .passedOver(omission)
            return
        }
        if entry.isNamed {
            self =
                EvidenceDatabase.isDatabase(entry.path)
                ? .database : .propertyList(try ArchiveFiles.contents(of: entry.path, provenance))
            return
        }
        self = try Self.contents(of: entry.path)
    }

    /// A file in a folder, by its beginning.
    private static func contents(of path: String) throws(FileError) -> EvidenceFile {
        let layer = PosixFileLayer()
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        let beginning = try layer.beginning(of: file, count: 2048)
        let other = beginning.withUnsafeBytes { bytes -> EvidenceFile? in
            if EvidenceDatabase.isBeginning(of: bytes) { return .database }
            if isPropertyList(bytes, path) { return nil }
            if JournalList.isBeginning(of: bytes) {
                // Those of a shared collection are a copy of what its server has, and a queue for it.
                if PathText.name(of: path).hasPrefix("items.journal") { return nil }
                return .passedOver("a cache of a shared collection, or commits that wait for its server")
            }
            let owner = EvidenceDatabase.owner(ofSide: path)
            return .passedOver(owner.map { "read with its database, \(PathText.name(of: $0))" } ?? otherKind)
        }
        if let other { return other }
        let bytes = try layer.contents(of: file, limit: ArchiveFiles.sizeLimit)
        // A comment may be longer than the beginning.
        return bytes.withUnsafeBytes { isPropertyList($0, path) || JournalList.isBeginning(of: $0) }
            ? .propertyList(bytes) : .passedOver(otherKind)
    }

    private static let otherKind = "not a property list or a database"

    /// Whether a file begins like a property list; in OpenStep's text form, which other texts resemble, if its name says
    /// so, too.
    private static func isPropertyList(_ bytes: UnsafeRawBufferPointer, _ path: String) -> Bool {
        if PropertyListFormat.isBeginning(of: bytes) { return true }
        return [".plist", ".strings", ".pbxproj"].contains { path.lowercased().hasSuffix($0) }
            && PropertyListFormat.isTextBeginning(of: bytes)
    }
}

/// The tree of a file: an archive, a property list, or the commits of a container's journal.
struct EvidenceTree {
    let tree: ArchiveTree
    /// What the file is, in a report.
    let kind: String
    /// What of a journal cannot be read.
    let problems: FileProblems
    let isJournal: Bool

    init(_ tree: ArchiveTree, kind: String) {
        (self.tree, self.kind, problems, isJournal) = (tree, kind, FileProblems(), false)
    }

    /// Whether bytes begin as those of a container's journal.
    static func isJournal(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { JournalList.isBeginning(of: $0) } }

    /// - Parameters:
    ///   - bytes: the file's.
    ///   - path: its path: beside a journal's folder the container says which fields every item has.
    /// - Throws: for bytes that are neither, and damage that leaves nothing.
    init(_ bytes: [UInt8], of path: String) throws(ArchiveError) {
        var problems = FileProblems()
        guard let journal = try Self.journal(bytes, path) else {
            tree = try ArchiveTree(PropertyListStorage(bytes))
            kind = tree.kind(of: bytes)
            (self.problems, isJournal) = (problems, false)
            return
        }
        tree = try ArchiveTree(PropertyListStorage(journal.bytes))
        kind = "journal of items, \(journal.commitCount.counted("commit"))"
        for place in journal.damage { problems.add(place.path, place.reason) }
        (self.problems, isJournal) = (problems, true)
    }

    /// Opens the bytes of a journal that is a command's only file.
    ///
    /// - Throws: the exit status, after a message, for damage that leaves nothing.
    static func ofJournal(_ bytes: [UInt8], _ path: String, _ provenance: Provenance) throws -> EvidenceTree {
        do throws(ArchiveError) {
            let journal = try EvidenceTree(bytes, of: path)
            provenance.recordRead(path, bytes, kind: journal.kind)
            return journal
        } catch {
            provenance.recordRead(path, bytes, kind: "not readable")
            provenance.recordUnread(path, reason: error.message)
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(path)): \(error.message)")
        }
    }

    /// The commits, if the bytes are a journal's.
    private static func journal(_ bytes: [UInt8], _ path: String) throws(ArchiveError) -> JournalList? {
        guard isJournal(bytes) else { return nil }
        let container = ApplicationContainer(path: PathText.join(PathText.parent(of: path), ".."))
        let schema = OwnFields.schema(of: container)
        do throws(StoreError) {
            return try bytes.withBytes { bytes throws(StoreError) in try JournalList(bytes, schema) }
        } catch {
            throw ArchiveError(code: .notAnArchive, message: error.message)
        }
    }
}

extension ArchiveTree {
    /// What a file is, in a report.
    ///
    /// - Parameter bytes: the file's.
    /// - Returns: its kind and form.
    func kind(of bytes: [UInt8]) -> String {
        let form =
            switch bytes.withUnsafeBytes({ PropertyListFormat(detecting: $0) }) {
            case .binary?: "binary"
            case .xml?: "XML"
            case nil: "text"
            }
        return "\(archive == nil ? "property list" : "keyed archive"), \(form)"
    }

    /// The archive or property list in the bytes of a cell, or why it cannot be read; nil for other bytes.
    ///
    /// - Parameters:
    ///   - bytes: a blob's, or a text's.
    ///   - isText: whether it is a text, which may be XML only.
    /// - Returns: the tree, or the error.
    static func embedded(
        inCell bytes: UnsafeBufferPointer<UInt8>, isText: Bool
    ) -> Result<ArchiveTree, ArchiveError>? {
        let raw = UnsafeRawBufferPointer(bytes)
        guard let first = raw.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }),
            (first == UInt8(ascii: "b") && !isText) || first == UInt8(ascii: "<") || first >= 0xEF,
            PropertyListFormat.isBeginning(of: raw)
        else { return nil }
        return Result { () throws(ArchiveError) in try ArchiveTree(PropertyListStorage(copying: raw), level: 1) }
    }
}

extension SQLiteCell {
    /// Whether it is a number or a text.
    var isPlain: Bool {
        switch self {
        case .integer, .real, .text: true
        case .blob, .null: false
        }
    }

    /// The archive or property list in the cell, or why it cannot be read; nil for another value.
    var embedded: Result<ArchiveTree, ArchiveError>? {
        switch self {
        case .text(let text): ArchiveTree.embedded(inCell: text, isText: true)
        case .blob(let blob): ArchiveTree.embedded(inCell: blob, isText: false)
        default: nil
        }
    }
}

/// The path of a cell in a database, and of what is in it: `notes.data[3].$embedded.root.created`.
struct CellPath: CustomStringConvertible {
    let table: String
    let column: String
    let row: EvidenceDatabase.Row
    /// The steps in the archive or property list that the cell has; empty for the cell itself.
    var inner = TreePath([])

    var description: String {
        let cell = "\(TreePath([.init(.key(table)), .init(.key(column))]).description)[\(row.text)]"
        if inner.steps.isEmpty { return cell }
        let rest = TreePath([.embedded] + inner.steps).description
        return "\(cell).\(rest)"
    }

    init(_ table: String, _ column: String, _ row: EvidenceDatabase.Row, _ inner: TreePath = TreePath([])) {
        (self.table, self.column, self.row, self.inner) = (table, column, row, inner)
    }

    /// Parses a path.
    ///
    /// - Throws: `invalidValue` for a text that is none.
    init(_ text: String) throws(ArchiveError) {
        guard let (range, row) = Self.row(in: text) else {
            throw Self.malformed(text)
        }
        let names = try TreePath(String(text[..<range.lowerBound])).steps
        guard names.count == 2 else {
            throw Self.malformed(text)
        }
        var rest = text[range.upperBound...]
        if rest.hasPrefix(".") { rest = rest.dropFirst() }
        var steps = try TreePath(String(rest)).steps
        if steps.first == .embedded { steps.removeFirst() }
        self.init(names[0].key, names[1].key, row, TreePath(steps))
    }

    private static func malformed(_ text: String) -> ArchiveError {
        ArchiveError(
            code: .invalidValue, message: "“\(text)” is not a path in a database; one is like table.column[rowid]")
    }

    /// The first row in brackets, outside of quotes.
    private static func row(in text: String) -> (Range<String.Index>, EvidenceDatabase.Row)? {
        let scalars = text.unicodeScalars
        var place = scalars.startIndex
        while let open = scalars[place...].firstIndex(of: "[") {
            let start = scalars.index(after: open)
            guard start < scalars.endIndex else { return nil }
            if scalars[start] == "\"" || scalars[start] == "'" || scalars[start] == "$" {
                guard let end = endOfQuotes(scalars, from: start) else { return nil }
                place = end
                continue
            }
            guard let close = scalars[start...].firstIndex(of: "]") else { return nil }
            let inside = String(scalars[start..<close])
            let after = scalars.index(after: close)
            if let number = Int64(inside) { return (open..<after, .number(number)) }
            if inside.hasPrefix("row "), let position = Int(inside.dropFirst(4)), position > 0 {
                return (open..<after, .position(position))
            }
            place = after
        }
        return nil
    }

    /// The place behind the bracket that ends a quoted name.
    private static func endOfQuotes(
        _ scalars: String.UnicodeScalarView, from start: String.Index
    ) -> String.Index? {
        var place = start
        let escapes = scalars[place] == "$"
        if escapes { place = scalars.index(after: place) }
        guard place < scalars.endIndex else { return nil }
        let quote = scalars[place]
        place = scalars.index(after: place)
        while place < scalars.endIndex, scalars[place] != quote {
            if escapes, scalars[place] == "\\" { place = scalars.index(after: place) }
            guard place < scalars.endIndex else { return nil }
            place = scalars.index(after: place)
        }
        guard place < scalars.endIndex else { return nil }
        return scalars[place...].firstIndex(of: "]").map { scalars.index(after: $0) }
    }
}

extension PosixFileLayer {
    /// The first bytes of a file.
    func beginning(of file: OpenFile, count: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(FileError) in
            try read(file, at: 0, into: UnsafeMutableRawBufferPointer(buffer))
        }
        return Array(bytes.prefix(length))
    }
}

extension FileError {
    /// The failure without the path, for a line that begins with it.
    func brief(for path: String) -> String {
        self.path == path ? "cannot \(operation.rawValue) it: \(reason)" : message
    }
}

/// What in a file cannot be read, by path; of a hostile file not all of it.
struct FileProblems {
    private(set) var list: [(path: String, reason: String)] = []
    private static let maximum = 100

    /// The first place with its reason; nil if everything can be read.
    var first: String? { texts.first }

    var texts: [String] { list.map { $0.path.isEmpty ? $0.reason : "\($0.path): \($0.reason)" } }

    /// - Parameters:
    ///   - path: the place; empty for the file itself.
    ///   - reason: why it cannot be read.
    mutating func add(_ path: String, _ reason: String) {
        if list.count < Self.maximum { return list.append((path, reason)) }
        if list.count == Self.maximum { list.append(("", "more cannot be read, which is not named here")) }
    }

    mutating func add(_ problems: FileProblems) {
        for problem in problems.list { add(problem.path, problem.reason) }
    }

    mutating func add(_ damage: TreeDamage) {
        for place in damage.places { add(place.path.description, place.reason) }
    }

    /// Adds what cannot be read in the archive or property list of a cell.
    mutating func add(_ damage: TreeDamage, in cell: CellPath) {
        for place in damage.places {
            add(CellPath(cell.table, cell.column, cell.row, place.path).description, place.reason)
        }
    }
}

/// What a command over many files has read of them: the progress, the counts and the exit status.
struct EvidenceTally {
    /// How many files that are passed over, and how many problems of a file, are named on standard error.
    static let namedCount = 10

    private var progress: CommandProgress?
    private var passedOver = 0
    private var failures = 0
    /// The number of files that were read, whole or not.
    var files = 0
    private(set) var status = ExitStatus.done

    /// Shows the progress.
    mutating func begin(_ label: String, _ paths: [String]) {
        progress = CommandProgress(label, total: FileTree(paths).reduce(0) { count, _ in count + 1 })
    }

    func show(_ place: Int) { progress?.show(place) }

    func finish() { progress?.finish() }

    /// Counts a file that is passed over, and names it on standard error if it is one of the first.
    mutating func passOver(_ path: String, _ reason: String, isNamed: Bool = true) {
        passedOver += 1
        if isNamed, passedOver <= Self.namedCount { say("passed over \(path): \(reason)") }
    }

    /// Counts and records a file that has problems.
    mutating func record(_ problems: FileProblems, of path: String, as failure: ExitStatus, _ provenance: Provenance?) {
        guard !problems.list.isEmpty else { return }
        for problem in problems.list { provenance?.recordUnread(path, problem.path, reason: problem.reason) }
        failures += 1
        if status != .inputOutput { status = failure }
    }

    /// Names the first problems of a file on standard error.
    func say(_ problems: FileProblems, of path: String) {
        for problem in problems.texts.prefix(Self.namedCount) { say("\(ArchiveFiles.name(path)): \(problem)") }
    }

    func say(_ text: String) {
        progress?.finish()
        CommandFailure.say(VisibleText.line(text))
    }

    /// Says the counts of what was not read on standard error.
    ///
    /// - Parameter option: the option that names all files that are passed over; nil if they were named.
    func report(naming option: String?) {
        var parts: [String] = []
        if failures > 0 { parts.append("\(failures) of \(files.counted("file")) cannot be read whole") }
        if passedOver > 0 {
            let unnamed = passedOver - Self.namedCount
            let hint = option.map { ", \(unnamed) of them not named here: \($0) names all" } ?? ""
            parts.append(
                "\(passedOver.counted("file")) \(passedOver == 1 ? "was" : "were") passed over\(unnamed > 0 ? hint : "")"
            )
        }
        if !parts.isEmpty { CommandFailure.say(parts.joined(separator: "; ")) }
    }
}
