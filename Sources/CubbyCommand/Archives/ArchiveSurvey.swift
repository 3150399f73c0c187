import ArgumentParser
import Files
import Glibc
import KeyedArchive
import PropertyList
import REPL
import SQLite
import Scripting

/// Inspects many archives and property lists in order: a line of JSON for each, or a line for each place of a text.
struct ArchiveSurvey {
    private let output: TextOutput
    private var search: TreeSearch?
    private let writesJSON: Bool
    private let leafText: LeafText
    private let provenance: Provenance?
    private var tally = EvidenceTally()
    private var hitCount = 0

    /// - Parameters:
    ///   - output: receives the lines.
    ///   - search: the search; nil to output all files.
    ///   - writesJSON: whether lines are JSON.
    ///   - leafText: the format of values in other lines.
    ///   - provenance: records what is read; nil without a report.
    init(
        _ output: TextOutput, search: TreeSearch?, writesJSON: Bool, leafText: LeafText, provenance: Provenance? = nil
    ) {
        (self.output, self.search, self.writesJSON, self.leafText) = (output, search, writesJSON, leafText)
        self.provenance = provenance
    }

    mutating func run(_ paths: [String]) throws {
        if StandardStream.error.isTerminal, output.columns == nil {
            tally.begin("Inspecting", paths)
        }
        if let provenance { write(provenance.headLine, provenance.head) }
        for (index, entry) in FileTree(paths).enumerated() {
            tally.show(index)
            survey(entry)
            output.flush()
            if output.isClosed { break }
        }
        tally.finish()
        if let provenance { write(provenance.footLine, provenance.foot) }
        guard !output.isClosed else { throw ExitCode.success }
        tally.report(naming: writesJSON ? nil : "--json-lines")
        if tally.status == .done, search != nil, hitCount == 0 { throw ExitCode(ArchiveFiles.different) }
        if tally.status != .done { throw ExitCode(tally.status.rawValue) }
    }

    /// Writes a part of the report, as JSON or as lines.
    private func write(_ json: [UInt8], _ lines: [String]) {
        guard writesJSON else { return Provenance.write(lines, toError: false) }
        output.append(json: json)
        output.flush()
    }

    // MARK: - One file

    private mutating func survey(_ entry: FileTree.Entry) {
        do throws(FileError) {
            switch try EvidenceFile(entry, provenance) {
            case .passedOver(let reason): passOver(entry, reason)
            case .database: surveyDatabase(entry.path)
            case .propertyList(let bytes): survey(entry.path, bytes)
            }
        } catch {
            tally.files += 1
            report(ArchiveReport(file: entry.path, error: error.brief(for: entry.path)), as: .inputOutput)
        }
    }

    private mutating func survey(_ path: String, _ bytes: [UInt8]) {
        tally.files += 1
        var report = ArchiveReport(file: path, digest: SHA256.digest(bytes).hexadecimal)
        var kind = "not readable"
        do {
            let opened = try EvidenceTree(bytes, of: path)
            let tree = opened.tree
            kind = opened.kind
            report.problems.add(opened.problems)
            if let search {
                try find(search, in: tree, &report)
            } else {
                report.problems.add(TreeDamage(in: tree))
            }
            if writesJSON { try report.describe(tree) }
        } catch {
            report.problems.add("", "\(error)")
        }
        provenance?.recordRead(path, bytes, digest: report.digest, kind: kind)
        self.report(report, as: .badData)
    }

    private mutating func surveyDatabase(_ path: String) {
        tally.files += 1
        do {
            let database = try EvidenceDatabase(path)
            provenance?.record(database.parts)
            var report = ArchiveReport(file: path, digest: database.digest)
            do {
                if let search { try find(search, in: database, &report) }
                if writesJSON { try report.describe(database) }
            } catch {
                report.problems.add("", EvidenceDatabase.message(error))
            }
            if !database.isUnchanged { report.problems.add("", "it changed while it was read") }
            self.report(report, as: .badData)
        } catch {
            report(
                ArchiveReport(file: path, error: EvidenceDatabase.message(error)), as: EvidenceDatabase.status(error))
        }
    }

    /// Names a file that is passed over: each in a line of JSON, or the first ones on standard error.
    private mutating func passOver(_ entry: FileTree.Entry, _ reason: String) {
        tally.passOver(entry.path, reason, isNamed: !writesJSON)
        provenance?.recordPassedOver(entry.path, reason)
        guard writesJSON else { return }
        var report = ArchiveReport(file: entry.path)
        report.omission = reason
        output.append(json: report.line())
    }

    private mutating func find(_ search: TreeSearch, in tree: ArchiveTree, _ report: inout ArchiveReport) throws {
        var search = search
        var count = 0
        defer { hitCount += count }
        let file = VisibleText.line(ArchiveFiles.name(report.file))
        var found = ArchiveReport.Found(tree)
        defer { if count > 0 { report.found = found } }
        // The text may be in what cannot be read, too.
        try search.run(in: tree, damage: { report.problems.add($0.description, $1.description) }) { hit in
            if writesJSON {
                try found.add(hit.path, hit)
            } else if !output.isClosed {
                show(file, hit.path, InspectCommand.line(hit.tree, hit.node, leafText))
            }
            count += 1
        }
    }

    /// Finds a text in the cells of a database, and in the archives and property lists that they have.
    private mutating func find(
        _ search: TreeSearch, in database: EvidenceDatabase, _ report: inout ArchiveReport
    ) throws {
        let file = VisibleText.line(ArchiveFiles.name(report.file))
        var found = ArchiveReport.Found(maximumBytes: ArchiveReport.maximumBytes(ofFile: database.parts[0].size))
        var count = 0
        defer {
            hitCount += count
            if count > 0 { report.found = found }
        }
        for table in database.tables {
            if let problem = table.problem { report.problems.add(table.name, problem) }
            try database.forEachRow(of: table) { row, cell in
                for (index, column) in table.columns.enumerated() {
                    let path = CellPath(table.name, column.name, row)
                    func add(_ value: PropertyListValue) throws {
                        count += 1
                        if writesJSON { return try found.add(path, value) }
                        show(file, path, [(.string, leafText.text(value))])
                    }
                    switch cell(index) {
                    case .integer(let number):
                        if search.isFound(in: "\(number)") { try add(.integer(number)) }
                    case .real(let number):
                        if search.isFound(in: "\(number)") { try add(.real(number)) }
                    case .text, .blob:
                        switch cell(index).embedded {
                        case .success(let tree)?:
                            var search = search
                            func damaged(_ inner: TreePath, _ error: ArchiveError) {
                                report.problems.add(
                                    CellPath(table.name, column.name, row, inner).description, error.description)
                            }
                            try search.run(in: tree, damage: damaged) { hit in
                                count += 1
                                let inner = CellPath(table.name, column.name, row, hit.path)
                                if writesJSON { return try found.add(inner, hit) }
                                show(file, inner, InspectCommand.line(hit.tree, hit.node, leafText))
                            }
                        case .failure(let error)?: report.problems.add(path.description, error.description)
                        case nil:
                            guard case .text(let bytes) = cell(index) else { break }
                            let text = String(decoding: bytes, as: UTF8.self)
                            if search.isFound(in: text) { try add(.string(text)) }
                        }
                    case .null: break
                    }
                }
                return !output.isClosed
            }
        }
    }

    /// Writes the place of a text, and what is there.
    private func show(_ file: String, _ path: some CustomStringConvertible, _ found: TreeDrawing.Line) {
        output.line([(.label, file), (.guide, ": "), (.reference, path.description), (.guide, ": ")] + found)
    }

    private mutating func report(_ report: ArchiveReport, as failure: ExitStatus) {
        tally.record(report.problems, of: report.file, as: failure, provenance)
        if writesJSON, search == nil || report.found != nil { return output.append(json: report.line()) }
        tally.say(report.problems, of: report.file)
    }
}

/// The output of `cubby inspect --json-lines` for a file.
struct ArchiveReport {
    /// The places at which a searched text was found.
    struct Found {
        private var text = JSONText(.compact)
        private let maximumBytes: Int

        init(_ tree: ArchiveTree) { self.init(maximumBytes: ArchiveReport.maximumBytes(of: tree)) }

        init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

        /// A place in an archive of a cell.
        mutating func add(_ path: some CustomStringConvertible, _ hit: TreeSearch.Hit) throws {
            try add(path.description) { try $0.append(json: TreeJSON.brief(hit.node, of: hit.tree)) }
        }

        /// A cell.
        mutating func add(_ path: CellPath, _ value: PropertyListValue) throws {
            try add(path.description) { $0.leaf(value) }
        }

        private mutating func add(_ path: String, _ value: (inout JSONText) throws -> Void) throws {
            text.append(text.bytes.isEmpty ? "{" : ",{")
            text.key("path")
            text.string(path)
            text.next(1, isFirst: false)
            text.key("value")
            try value(&text)
            text.append("}")
            guard text.bytes.count <= maximumBytes else {
                throw ArchiveError(code: .writeInvalid, message: "the places take more than \(maximumBytes) bytes")
            }
        }

        fileprivate var json: [UInt8] { text.bytes }
    }

    let file: String
    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    var digest: String?
    private var classes: NameTable<Int> = [:]
    private var top: [UInt8]?
    var found: Found?
    /// What cannot be read.
    var problems = FileProblems()
    /// The first of it.
    var error: String? { problems.first }
    /// Why a file in a folder was passed over.
    var omission: String?

    init(file: String, digest: String? = nil, error: String? = nil) {
        (self.file, self.digest) = (file, digest)
        if let error { problems.add("", error) }
    }

    /// A file's line is buffered until it is complete, so that an error leaves no partial line.
    private static func maximumBytes(of tree: ArchiveTree) -> Int {
        maximumBytes(ofFile: tree.propertyList.storage.bytes.count)
    }

    static func maximumBytes(ofFile size: Int) -> Int { (4 << 20) + 16 * size }

    /// Adds a database's tables, and the archives and property lists in them.
    mutating func describe(_ database: EvidenceDatabase) throws {
        let contents = DatabaseContents(database, listing: 1000)
        classes = contents.classes
        top = PlainValueJSON.bytes(contents.json, .compact)
        // A search has met the same.
        if problems.list.isEmpty { problems = contents.problems }
    }

    /// Adds a tree's contents.
    mutating func describe(_ tree: ArchiveTree) throws {
        classes = tree.classCounts
        var writer = TreeJSON(
            tree, layout: .compact, keepsData: false, maximumBytes: Self.maximumBytes(of: tree))
        var json: [UInt8] = []
        try writer.write { json += $0 }
        json.removeLast()
        top = json
        if problems.list.isEmpty, let damage = writer.damage { problems.add("", damage.description) }
    }

    /// The JSON object as one line.
    func line() -> [UInt8] {
        var text = JSONText(.compact)
        text.append("{")
        text.key("file")
        text.string(file)
        func add(_ key: String, _ json: [UInt8]) {
            text.next(1, isFirst: false)
            text.key(key)
            text.append(json: json)
        }
        func add(_ key: String, _ value: String) { add(key, Array(JSONText.quoted(value).utf8)) }
        if let digest { add("sha256", digest) }
        if let top {
            let counts = classes.keys.sorted().map { ($0, PlainValue.integer(Int128(classes[$0, default: 0]))) }
            add("classes", PlainValueJSON.bytes(.object(counts), .compact))
            add("top", top)
        }
        if let found { add("found", Array("[".utf8) + found.json + Array("]".utf8)) }
        if let error { add("error", error) }
        if let omission { add("passedOver", omission) }
        text.append("}\n")
        return text.take()
    }
}

/// The files of a command line, in its order: the named ones, and those in named folders, in byte order of names. Links
/// and other objects in folders that are not files are entries, too, with the reason why they are not read.
struct FileTree: Sequence, IteratorProtocol {
    /// A file, or the reason why a folder cannot be listed.
    struct Entry {
        let path: String
        /// Whether it is named on the command line.
        let isNamed: Bool
        var problem: FileError?
        /// Why an object in a folder is passed over.
        var omission: String?
    }

    private let layer = PosixFileLayer()
    /// In reverse order: the last one is next.
    private var pending: [Entry]
    /// The files so far, if several paths are named, of which one may be in another.
    private var met: Set<ExactText>?

    init(_ paths: [String]) {
        pending = paths.reversed().map { Entry(path: $0, isNamed: true) }
        met = paths.count > 1 ? [] : nil
    }

    mutating func next() -> Entry? {
        while var next = pending.popLast() {
            if next.problem != nil { return next }
            do throws(FileError) {
                switch try kind(of: next) {
                case .regular:
                    if !(met?.insert(ExactText(Self.whole(next.path))).inserted ?? true) {
                        next.omission = "it is named twice, and was read before"
                    }
                    return next
                case .directory: pending += try contents(of: next.path).reversed()
                case let other:
                    if !next.isNamed { next.omission = Self.omission(other) }
                    return next
                }
            } catch {
                next.problem = error
                return next
            }
        }
        return nil
    }

    /// A path by which a file is the same in two spellings; not through links.
    private static func whole(_ path: String) -> String {
        path == "-" ? path : PathText.absolute(path, from: WorkingDirectory.path ?? "/")
    }

    private static func omission(_ kind: FileStatus.Kind?) -> String {
        switch kind {
        case .symbolicLink?: "a link, which is not followed"
        case .socket?: "a socket"
        case nil: "it is gone"
        default: "a pipe or a device"
        }
    }

    private func kind(of entry: Entry) throws(FileError) -> FileStatus.Kind? {
        guard entry.isNamed else { return try layer.status(entry.path)?.kind }
        // A named link is followed, also to a folder.
        return entry.path != "-" && !entry.path.isEmpty && layer.exists(PathText.join(entry.path, "."))
            ? .directory : .regular
    }

    private func contents(of folder: String) throws(FileError) -> [Entry] {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.list, folder, code: errno) }
        let stream = try FolderStream(descriptor: descriptor, path: folder)
        var names: [[UInt8]] = []
        while let name = try stream.next() { names.append(name) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { bytes in
            let name = String(decoding: bytes, as: UTF8.self)
            var entry = Entry(path: PathText.join(folder, name), isNamed: false)
            if !name.utf8.elementsEqual(bytes) {
                entry.problem = FileError(.open, entry.path, code: EILSEQ, reason: "the name is not UTF-8")
            }
            return entry
        }
    }
}
