import ArgumentParser
import Files
import KeyedArchive
import PropertyList
import SQLite
import TimeZones

/// The dates of many files: those of archives, property lists and databases, of what these have in their data, and the
/// numbers that are said to be dates.
///
/// All dates are in memory until they are sorted: some 200 bytes for each, and five million of them at most. Of the files
/// one at a time is.
struct Timeline {
    /// A date.
    struct Event {
        let date: PropertyListDate
        /// The number of its file.
        let file: Int
        let path: String
        let className: String
        let epoch: Epoch
    }

    static let maximumEvents = 5_000_000

    private(set) var files: [(path: String, digest: String)] = []
    private(set) var events: [Event] = []
    /// Dates that no moment of a calendar is, and that therefore are neither within bounds nor outside.
    private(set) var boundless = 0
    /// Dates that are not within the bounds.
    private(set) var outside = 0
    /// What was wrong in the current file.
    private var problems = FileProblems()
    private(set) var fields: EpochFields
    private let bounds: TimelineBounds
    /// The columns that are declared as dates, and have numbers or texts, without an epoch.
    private(set) var undated: NameTable<Int> = [:]
    /// The columns and keys with an epoch that have other values than its own.
    private(set) var misfits: NameTable<Int> = [:]
    private(set) var isFull = false

    init(_ fields: EpochFields, bounds: TimelineBounds) { (self.fields, self.bounds) = (fields, bounds) }

    /// Adds the dates of a property list or an archive.
    ///
    /// - Returns: what could not be read in it, by path.
    mutating func add(_ tree: ArchiveTree, of path: String, digest: String) -> FileProblems {
        begin(path, digest)
        if let error = tree.archiveError { problems.add("", error.description) }
        walk(tree) { $0.description }
        return problems
    }

    /// Adds the dates of a database.
    ///
    /// - Returns: what could not be read in it, by path.
    mutating func add(_ database: EvidenceDatabase, of path: String) -> FileProblems {
        begin(path, database.digest)
        for table in database.tables {
            if let problem = table.problem { problems.add(table.name, problem) }
            if table.kind == .table { add(table, of: database) }
        }
        if !database.isUnchanged { problems.add("", "it changed while it was read") }
        return problems
    }

    private mutating func begin(_ path: String, _ digest: String) {
        files.append((path, digest))
        problems = FileProblems()
    }

    private mutating func add(_ table: EvidenceDatabase.Table, of database: EvidenceDatabase) {
        let epochs = table.columns.map { fields.epoch(ofColumn: $0.name, of: table.name) }
        let declared = table.columns.map { ["date", "datetime", "timestamp"].contains($0.type.lowercased()) }
        do {
            try database.forEachRow(of: table) { row, cell in
                for (index, column) in table.columns.enumerated() {
                    let path = CellPath(table.name, column.name, row)
                    let cell = cell(index)
                    if let epoch = epochs[index] {
                        add(cell, at: path, epoch)
                    } else if declared[index], cell.isPlain {
                        undated["\(table.name).\(column.name)", default: 0] += 1
                    }
                    add(cell.embedded, at: path)
                }
                return !isFull
            }
        } catch {
            problems.add(table.name, "\(error)")
        }
    }

    /// Adds a cell of a column with an epoch.
    private mutating func add(_ cell: SQLiteCell, at path: CellPath, _ epoch: Epoch) {
        func add(_ date: PropertyListDate?, _ kind: String) {
            guard let date else { return misfits["\(path.table).\(path.column)", default: 0] += 1 }
            self.add(date, path.description, kind, epoch)
        }
        switch cell {
        case .integer(let number): add(epoch.date(number), "integer")
        case .real(let number): add(epoch.date(number), "real")
        case .text(let text):
            add(epoch == .iso ? ISO8601.nearest(String(decoding: text, as: UTF8.self)) : nil, "text")
        case .blob, .null: break
        }
    }

    private mutating func add(_ embedded: Result<ArchiveTree, ArchiveError>?, at path: CellPath) {
        switch embedded {
        case .success(let tree)?:
            if let error = tree.archiveError { problems.add(path.description, error.description) }
            walk(tree) { CellPath(path.table, path.column, path.row, $0).description }
        case .failure(let error)?: problems.add(path.description, error.description)
        case nil: break
        }
    }

    // MARK: - Trees

    private mutating func walk(_ tree: ArchiveTree, _ text: (TreePath) -> String) {
        var walk = TreeWalk(tree)
        do {
            try walk.run { visit, walk in
                add(visit) { text(walk.path) }
                if isFull { throw TimelineFull() }
            }
        } catch is TimelineFull {} catch {
            problems.add(text(TreePath([])), "\(error)")
        }
    }

    private struct TimelineFull: Error {}

    private mutating func add(_ visit: TreeWalk.Visit, _ path: () -> String) {
        func number(_ kind: String, _ date: (Epoch) -> PropertyListDate?) {
            guard let epoch = fields.epoch(ofKey: visit.key, at: path) else { return }
            guard let date = date(epoch) else { return misfits[visit.key ?? path(), default: 0] += 1 }
            add(date, path(), visit.value.className ?? kind, epoch)
        }
        if let error = visit.damage { problems.add(path(), error.description) }
        switch visit.value.content {
        case .leaf(.date(let date)): add(date, path(), visit.value.className ?? "date", .cocoa)
        case .leaf(.integer(let value)): number("integer") { $0.date(value) }
        case .leaf(.wideInteger(let value)): number("integer") { $0.date(Double(value)) }
        case .leaf(.real(let value)): number("real") { $0.date(value) }
        case .leaf(.single(let value)): number("real") { $0.date(Double(value)) }
        case .leaf(.string(let text)): number("text") { $0 == .iso ? ISO8601.nearest(text) : nil }
        case .value(.decimal(let value)):
            guard !value.isNaN, let real = Double(value.description) else { break }
            number("real") { $0.date(real) }
        case .object:
            if let date = Self.dateOfSubclass(visit) { add(date, path(), visit.value.className ?? "", .cocoa) }
        default: break
        }
    }

    /// The date that an instance of a subclass of NSDate has in the field of its superclass.
    private static func dateOfSubclass(_ visit: TreeWalk.Visit) -> PropertyListDate? {
        guard let uid = visit.value.identity.flatMap({ UInt32(exactly: $0) }),
            let archived = try? visit.tree.archive?.record(at: uid)?.archivedClass(),
            archived.superclasses.contains("NSDate"),
            let field = visit.tree.child(TreePath.Step(.key("NS.time")), of: visit.node)
        else { return nil }
        switch visit.tree.value(field).content {
        case .leaf(.real(let seconds)): return PropertyListDate(secondsSinceReferenceDate: seconds)
        case .leaf(.single(let seconds)): return PropertyListDate(secondsSinceReferenceDate: Double(seconds))
        case .leaf(.integer(let seconds)): return PropertyListDate(secondsSinceReferenceDate: Double(seconds))
        default: return nil
        }
    }

    private mutating func add(_ date: PropertyListDate, _ path: String, _ className: String, _ epoch: Epoch) {
        switch bounds.holds(date) {
        case true?: break
        case false?: return outside += 1
        case nil: return boundless += 1
        }
        guard events.count < Self.maximumEvents else { return isFull = true }
        events.append(Event(date: date, file: files.count - 1, path: path, className: className, epoch: epoch))
    }

    // MARK: - Order

    /// Sorts the dates by time, file and path; one that is not a number is last.
    mutating func sort() {
        var ranks = [Int](repeating: 0, count: files.count)
        var former: Int?
        for file in files.indices.sorted(by: { files[$0].path < files[$1].path }) {
            // The same file may be named twice.
            ranks[file] = former.map { files[$0].path == files[file].path ? ranks[$0] : ranks[$0] + 1 } ?? 0
            former = file
        }
        events.sort { one, other in
            let (a, b) = (one.date.secondsSinceReferenceDate, other.date.secondsSinceReferenceDate)
            if a != b, !(a.isNaN && b.isNaN) { return b.isNaN || a < b }
            if ranks[one.file] != ranks[other.file] { return ranks[one.file] < ranks[other.file] }
            if one.path != other.path { return one.path < other.path }
            if one.epoch != other.epoch { return one.epoch.rawValue < other.epoch.rawValue }
            return one.file < other.file
        }
    }
}

/// The first and the last moment of a timeline: `--from` and `--to`.
///
/// A year, a month and a day begin and end by the clock of the zone; so does a time without a zone of its own. `--to` with
/// a year, a month or a day includes all of it, with a time that moment.
struct TimelineBounds {
    private let first: PropertyListDate?
    private let last: PropertyListDate?
    /// Whether the last moment is no longer within.
    private let isOpen: Bool

    /// - Throws: `ValidationError` for a text that is no date, and for an end before the beginning.
    init(from: String?, to: String?, zone: Zone) throws {
        first = try from.map { try Self.span($0, "--from", zone).start }
        let end = try to.map { try Self.span($0, "--to", zone) }
        isOpen = end?.end != nil
        last = end.map { $0.end ?? $0.start }
        if let first, let last, last < first || (isOpen && last == first) {
            throw ValidationError("--to is before --from: nothing is between.")
        }
    }

    /// Whether a date is within the bounds; nil for one that is not a number, if there are bounds.
    func holds(_ date: PropertyListDate) -> Bool? {
        if first == nil, last == nil { return true }
        if date.secondsSinceReferenceDate.isNaN { return nil }
        if let first, date < first { return false }
        guard let last else { return true }
        return isOpen ? date < last : date <= last
    }

    /// The beginning of what a text names, and the end of a year, a month or a day.
    private static func span(
        _ text: String, _ option: String, _ zone: Zone
    ) throws -> (start: PropertyListDate, end: PropertyListDate?) {
        if let match = text.wholeMatch(of: /([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?/), let year = Int(match.1) {
            let month = match.2.flatMap { Int($0) }
            let day = match.3.flatMap { Int($0) }
            if (1...12).contains(month ?? 1), (1...CalendarDate.days(inMonth: month ?? 1, of: year)).contains(day ?? 1)
            {
                func moment(_ year: Int, _ month: Int, _ day: Int) -> PropertyListDate {
                    let local = CalendarDate.daysSince1970(year: year, month: month, day: day) * 86400
                    return PropertyListDate(
                        secondsSince1970: Int(zone.moment(ofLocal: Int64(local))), fraction: "")
                }
                let start = moment(year, month ?? 1, day ?? 1)
                guard let month else { return (start, moment(year + 1, 1, 1)) }
                guard let day else {
                    return (start, month == 12 ? moment(year + 1, 1, 1) : moment(year, month + 1, 1))
                }
                return (start, moment(year, month, day + 1))
            }
        }
        // A text with a zone is none with another behind it.
        if let local = ISO8601.parse(text + "Z"), let (seconds, fraction) = local.parts {
            let moment = zone.moment(ofLocal: Int64(seconds))
            return (PropertyListDate(secondsSince1970: Int(moment), fraction: fraction), nil)
        }
        guard let date = ISO8601.parse(text) else {
            throw ValidationError(
                "\(option) takes a date as 2026-11-21, 2026-11 or 2026, or a time as 2026-11-21T04:13:00: "
                    + "'\(text)' is none.")
        }
        return (date, nil)
    }
}
