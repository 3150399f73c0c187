import Application
import ArgumentParser
import Files
import Glibc
import KeyedArchive
import LineEditor
import PropertyList
import REPL

/// `cubby inspect FILE`, `cubby inspect OLD NEW`, and `cubby inspect PATH… --json-lines` or `--find TEXT`. A file may be an
/// archive, a property list, a database, a cell of one, or a container.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show keyed archives, property lists and databases: one as a tree, the differences of two, or many.",
        discussion: """
            References are resolved and classes named; the classes need not be known. An object with several \
            references shows its number after a #.
            Of an SQLite database: its tables with their columns and rows, and which cells have archives or property lists: \
            FILE.sqlite#table.column[rowid] opens one. The database is never written; its journal is honoured by a private \
            copy. Of a container: its items and their archive.
            With two files: their differences as objects, and exit status 1 if there are any. Compared are values by kind \
            and content, keys, counts, classes with their superclasses, unreferenced objects and the archiver's name; not \
            the numbers of objects, the order of keys and of the members of sets, the file's form, whether a value is \
            inline or an object, whether equal values are shared, and the width of reals, which standard error counts.
            With --json-lines or --find: any number of files, and folders with all their contents. Links in a folder \
            are not followed, and its files that are not property lists or databases are passed over: --json-lines writes a line with \
            the reason for each, standard error has the names of the first ones. The exit status is 65 if a file is \
            damaged, 74 if one cannot be read, and 1 if nothing is found.
            """)

    @Option(
        help: ArgumentHelp(
            "Show only the value at a path: root[0].name, root.0.name, [\"a.b\"], $objects[3], root.data.$embedded.",
            valueName: "keypath"))
    var path: String?

    @Flag(help: "Write JSON, with references resolved.")
    var json = false

    @Flag(help: "Write the file's property list as XML, with nothing resolved.")
    var xml = false

    @Flag(help: "Write one line of JSON for each file: file, sha256, classes, top, found, error, passedOver.")
    var jsonLines = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Show only the paths of values, keys and classes that contain a text, ignoring case.", valueName: "text"))
    var find: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of levels to show; the whole file is checked all the same.", valueName: "n"))
    var depth: Int?

    @Flag(help: "Show long strings and data in full.")
    var full = false

    @Flag(help: "Show the bytes of a binary property list, and what each of them means.")
    var bytes = false

    @Flag(help: ArgumentHelp(TimelineCommand.reportHelp))
    var report = false

    @Flag(name: .customLong("no-color"), help: "Do not use colours.")
    var noColor = false

    @Argument(help: "The file, or two to compare; - is standard input.", completion: .file())
    var files: [String]

    func validate() throws {
        if json, xml { throw ValidationError("--json and --xml exclude each other.") }
        if let depth, depth < 0 { throw ValidationError("--depth takes a number from 0.") }
        if bytes, json || xml || path != nil || depth != nil || jsonLines || find != nil || files.count > 1 {
            throw ValidationError("--bytes takes one file, and no other form of it.")
        }
        if jsonLines || find != nil {
            guard !json, !xml, path == nil, depth == nil else {
                throw ValidationError("--json-lines and --find go without --json, --xml, --path and --depth.")
            }
            if find == "" { throw ValidationError("--find takes a text that is not empty.") }
            return
        }
        if files.count > 2 { throw ValidationError("More than two files are shown with --json-lines or --find.") }
        if files.count > 1, json || xml {
            throw ValidationError("Two files are compared; --json and --xml show one.")
        }
    }

    func run() throws {
        SignalMask.restore()
        let output = TextOutput(noColor: noColor)
        let provenance = Provenance(isWanted: report)
        if jsonLines || find != nil {
            var survey = ArchiveSurvey(
                output, search: find.map { TreeSearch($0) }, writesJSON: jsonLines, leafText: leafText(output),
                provenance: report ? provenance : nil)
            return try survey.run(files)
        }
        // JSON and XML are one value each, which nothing may be before or behind.
        let isBeside = json || xml
        if report { Provenance.write(provenance.head, toError: isBeside) }
        var failure: (any Error)?
        do { try inspect(output, provenance) } catch { failure = error }
        output.flush()
        if report, !output.isClosed { Provenance.write(provenance.foot, toError: isBeside) }
        if let failure { throw failure }
    }

    private func inspect(_ output: TextOutput, _ provenance: Provenance) throws {
        let file = files[0]
        if bytes { return try BytesView(output, isFull: full).show(file, provenance) }
        if files.count > 1 {
            if EvidenceDatabase.isDatabase(file), CellReference(files[1]) == nil, !PosixFileLayer().exists(files[1]) {
                throw CommandFailure.exit(
                    .usage,
                    "there is no file '\(files[1])' to compare with; cubby inspect \(Self.word(file)) has all tables of the "
                        + "database, and \(Self.word("\(file)#\(files[1]).column[rowid]")) is a cell of one")
            }
            let (old, new) = (try open(file, provenance), try open(files[1], provenance))
            if provenance.isWanted {
                for (file, opened) in [(file, old), (files[1], new)] {
                    for place in TreeDamage(in: opened.tree).places {
                        provenance.recordUnread(file, place.path.description, reason: place.reason)
                    }
                }
            }
            let isSame = try compare(old.tree, new.tree, output)
            output.flush()
            try provenance.recordUnread(file, old.problems)
            try provenance.recordUnread(files[1], new.problems)
            if !isSame { throw ExitCode(ArchiveFiles.different) }
            return
        }
        if ContainerInspection.isFolder(file) {
            let container = try ContainerInspection(file)
            if !json, !xml, path == nil { container.heading().forEach { output.line($0) } }
            guard let archive = container.archive else { return }
            return try show(archive, output, provenance)
        }
        if path == nil, EvidenceDatabase.isDatabase(file) {
            return try DatabaseInspection(file, provenance).show(
                output, json: json, xml: xml, full: full, depth: depth ?? .max)
        }
        try show(file, output, provenance)
    }

    /// Shows a file, or what is at the path in it.
    private func show(_ file: String, _ output: TextOutput, _ provenance: Provenance) throws {
        // A path in a database begins with the cell.
        if let path, EvidenceDatabase.isDatabase(file) {
            return try show(CellReference(file: file, path: path), named: "\(file)#\(path)", output, provenance)
        }
        if let cell = CellReference(file) { return try show(cell, named: file, output, provenance) }
        let opened = try open(file, provenance)
        let steps = try path.map(parsed) ?? TreePath([])
        var found = try path == nil ? Place(tree: opened.tree, path: steps) : place(steps, of: opened.tree, file)
        (found.journal, found.problems) = (opened.isJournal ? opened.kind : nil, opened.problems)
        try show(found, named: file, output, provenance)
    }

    private func show(
        _ cell: CellReference, named name: String, _ output: TextOutput, _ provenance: Provenance
    ) throws {
        let (contents, cellName) = try cell.open(provenance)
        guard case .tree(let tree, let inner) = contents else {
            if case .plain(let value) = contents { try show(value, of: cell, output) }
            return
        }
        var steps = inner.steps
        if let path, cell.isNamed { steps += try parsed(path).steps }
        let path = TreePath(steps)
        try show(
            steps.isEmpty ? Place(tree: tree, path: path) : try place(path, of: tree, name), named: cellName, output,
            provenance)
    }

    /// Shows a cell that has no archive, as a row of a timeline or a hit of a search names it.
    private func show(_ value: PropertyListValue, of cell: CellReference, _ output: TextOutput) throws {
        if xml || (path != nil && cell.isNamed) { throw cell.noTree(value) }
        if json {
            var text = JSONText(.lines)
            text.leaf(value)
            text.append("\n")
            output.append(json: text.take())
        } else {
            output.line([(.string, leafText(output).text(value))])
        }
        output.flush()
    }

    /// What is shown: a whole tree, or a node of it.
    private struct Place {
        let tree: ArchiveTree
        var node: ArchiveTree.Node?
        let path: TreePath
        /// What the file is, if it is a container's journal, and what of it cannot be read.
        var journal: String?
        var problems = FileProblems()
    }

    /// - Throws: the exit status for something in it that cannot be read, also below what `--depth` shows.
    private func show(
        _ place: Place, named file: String, _ output: TextOutput, _ provenance: Provenance
    ) throws {
        // XML is the file's property list, whose archives are not read.
        if xml { return try writeXML(place.tree, place.node) }
        var unwritten: ArchiveError?
        if json { unwritten = try writeJSON(place, output) } else { try draw(place, named: file, output) }
        var problems = place.problems
        problems.add(TreeDamage(in: place.tree, at: place.path, below: place.node))
        if problems.list.isEmpty, let unwritten { problems.add("", unwritten.description) }
        try provenance.recordUnread(file, problems)
    }

    private func draw(_ place: Place, named file: String, _ output: TextOutput) throws {
        var drawing = TreeDrawing(
            place.tree, leafText: leafText(output), maximumDepth: depth ?? .max, at: place.path,
            opening: file == "-"
                ? { "--path \(Self.word($0.description))" }
                : { path in "cubby inspect --path \(Self.word(path.description)) \(Self.word(file))" })
        if let node = place.node {
            try drawing.draw(node) { try emit($0, output) }
        } else {
            output.line([(.detail, place.journal ?? heading(place.tree))])
            try drawing.draw { try emit($0, output) }
        }
        output.flush()
    }

    /// A word of a command line.
    private static func word(_ text: String) -> String {
        let isPlain =
            text.utf8.allSatisfy {
                ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || "_-./,:@+".utf8.contains($0)
            } && !text.isEmpty && !text.hasPrefix("-")
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Drawing ends when the output's reader is gone.
    private func emit(_ line: TreeDrawing.Line, _ output: TextOutput) throws {
        output.line(line)
        if output.isClosed { throw ExitCode.success }
    }

    private func leafText(_ output: TextOutput) -> LeafText {
        if full { return LeafText(limit: nil) }
        // A value gets the terminal's width minus the lines before it.
        return LeafText(limit: output.columns.map { max($0 - 30, 40) } ?? 120)
    }

    private func open(_ path: String, _ provenance: Provenance) throws -> EvidenceTree {
        if let cell = CellReference(path) {
            guard case .tree(let tree, let inner) = try cell.open(provenance).contents else {
                throw CommandFailure.exit(.badData, "\(path): it has no archive and no property list")
            }
            guard inner.steps.isEmpty else {
                throw CommandFailure.exit(.usage, "of two files, --path has the path in both: '\(path)' has another")
            }
            return EvidenceTree(tree, kind: "cell")
        }
        if EvidenceDatabase.isDatabase(path) {
            throw CommandFailure.exit(
                .usage, "a database is not compared, but cells of one are: '\(path)#table.column[rowid]' is one")
        }
        let bytes = try ArchiveFiles.bytes(of: path, provenance)
        if EvidenceTree.isJournal(bytes) { return try EvidenceTree.ofJournal(bytes, path, provenance) }
        do {
            let (reader, format) = try ArchiveFiles.propertyList(path, bytes)
            let tree = ArchiveTree(reader, format: format ?? .binary)
            let kind = tree.kind(of: bytes)
            provenance.recordRead(path, bytes, kind: kind)
            return EvidenceTree(tree, kind: kind)
        } catch {
            provenance.recordRead(path, bytes, kind: "not readable")
            provenance.recordUnread(path, reason: "not a property list that can be read")
            throw error
        }
    }

    private func parsed(_ path: String) throws -> TreePath {
        do throws(ArchiveError) { return try TreePath(path) } catch {
            throw CommandFailure.exit(.usage, error.message)
        }
    }

    /// The node at a path, or the whole archive or property list that data at it contains.
    private func place(_ path: TreePath, of tree: ArchiveTree, _ file: String) throws -> Place {
        do throws(ArchiveError) {
            if let inner = try tree.embedded(at: path) { return Place(tree: inner, path: path) }
            let place = try tree.place(at: path)
            return Place(tree: place.tree, node: place.node, path: path)
        } catch {
            throw CommandFailure.exit(.scriptError, "\(ArchiveFiles.name(file)): \(error.message)")
        }
    }

    private func heading(_ tree: ArchiveTree) -> String {
        let form = tree.format == .binary ? "binary" : "XML"
        let count = tree.objectCount.counted("object")
        guard let archive = tree.archive else { return "property list, \(form), \(count)" }
        let archiver = archive.archiver == "NSKeyedArchiver" ? "" : " of \(archive.archiver.prefix(64))"
        return "keyed archive\(archiver), \(form), \(count)"
    }

    /// - Returns: what cannot be written; nil for all of a tree that can be read.
    private func writeJSON(_ place: Place, _ output: TextOutput) throws -> ArchiveError? {
        var writer = TreeJSON(place.tree, at: place.path)
        func emit(_ bytes: [UInt8]) throws {
            output.append(json: bytes)
            if output.isClosed { throw ExitCode.success }
        }
        do {
            if let node = place.node { try writer.write(node, emit) } else { try writer.write(emit) }
        } catch let error as ArchiveError {
            output.flush()
            return error
        }
        output.flush()
        return writer.damage
    }

    private func writeXML(_ tree: ArchiveTree, _ node: ArchiveTree.Node?) throws {
        var list = tree.propertyList
        let (bytes, loss): ([UInt8], String?)
        do throws(PropertyListError) {
            if let node {
                let writer = BinaryPropertyListWriter()
                let top = try writer.add(tree.objectNumber(of: node), of: list)
                list = try BinaryPropertyListReader(try writer.finish(topObject: top))
            }
            (bytes, loss) = try list.xmlSayingLoss()
        } catch {
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(files[0])): \(error)")
        }
        if let loss { CommandFailure.say(loss) }
        try ArchiveFiles.write(bytes, to: "-", as: .xml)
    }

    // MARK: - Two files

    private func compare(_ old: ArchiveTree, _ new: ArchiveTree, _ output: TextOutput) throws -> Bool {
        var (old, new) = (old, new)
        var nodes: (ArchiveTree.Node, ArchiveTree.Node)?
        if let path {
            let steps = try parsed(path)
            let (one, other) = (try place(steps, of: old, files[0]), try place(steps, of: new, files[1]))
            (old, new) = (one.tree, other.tree)
            if let first = one.node, let second = other.node { nodes = (first, second) }
        }
        var difference = TreeDifference(old, new)
        let text = leafText(output)
        let isSame = difference.compare(nodes, at: path ?? "") { output.line($0.line(old, new, text)) }
        if difference.widthCount > 0 {
            output.flush()
            let (have, values) = difference.widthCount == 1 ? ("has", "value") : ("have", "values")
            CommandFailure.say(
                "not compared: \(difference.widthCount.counted("real")) of the same \(values) \(have) single precision in one file "
                    + "and double precision in the other")
        }
        return isSame
    }

    /// A value in one line.
    static func line(_ tree: ArchiveTree, _ node: ArchiveTree.Node, _ text: LeafText) -> TreeDrawing.Line {
        var line: TreeDrawing.Line = []
        var drawing = TreeDrawing(tree, leafText: text, maximumDepth: 0)
        drawing.draw(node) { line = $0 }
        return line
    }
}

/// Buffered standard output, with optional colours.
final class TextOutput {
    private let palette: TerminalPalette
    private var buffer: [UInt8] = []
    /// Whether a write has failed: what follows has no reader, or no room. The loss is said at the end.
    var isClosed: Bool { StandardStream.output.hasFailed }
    /// The columns of the terminal; nil without a terminal.
    let columns: Int?

    init(noColor: Bool) {
        let isTerminal = StandardStream.output.isTerminal
        palette = .appropriate(
            isTerminal: isTerminal, isForbidden: noColor, environment: ProcessSurroundings.current.value)
        let size = TerminalSize(descriptor: StandardDescriptor.output)
        columns = isTerminal ? size.flatMap { $0.columns > 20 ? $0.columns : nil } ?? 80 : nil
    }

    deinit { flush() }

    func line(_ line: TreeDrawing.Line) {
        for piece in line { append(palette.apply(piece.role.style, to: VisibleText.line(piece.text))) }
        append("\n")
    }

    /// A piece of JSON; on a terminal, control characters are escaped in JSON notation.
    func append(json bytes: [UInt8]) {
        if columns == nil { return append(bytes) }
        // A piece ends with a value, never within a character.
        append(VisibleText.escaped(String(decoding: bytes, as: UTF8.self), as: .json))
    }

    func append(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count > 1 << 16 { flush() }
    }

    /// Bytes that a terminal gets with control characters escaped.
    func append(raw bytes: [UInt8]) {
        append(columns == nil ? bytes : VisibleText.escaped(bytes))
    }

    private func append(_ bytes: [UInt8]) {
        buffer.append(contentsOf: bytes)
        if buffer.count > 1 << 16 { flush() }
    }

    func flush() {
        if !isClosed { StandardStream.output.put(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }
}
