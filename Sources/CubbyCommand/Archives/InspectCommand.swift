import Application
import ArgumentParser
import KeyedArchive
import PropertyList
import Wording

/// `cubby inspect FILE`, `cubby inspect OLD NEW`, and `cubby inspect PATH… --json-lines` or `--find TEXT`.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show keyed archives and property lists: one as a tree, the differences of two, or many.",
        discussion: """
            References are resolved and classes named; the classes need not be known. An object with several \
            references shows its number after a #.
            With two files: their differences as objects, and exit status 1 if there are any.
            With --json-lines or --find: any number of files, and folders with all their contents. Links in a folder \
            are not followed, and its files that are no property lists are skipped. The exit status is 65 if a file is \
            damaged, 74 if one cannot be read, and 1 if nothing is found.
            """)

    @Option(
        help: ArgumentHelp(
            "Show only the value at a path: root[0].name, root.0.name, [\"a.b\"], $objects[3].", valueName: "keypath"))
    var path: String?

    @Flag(help: "Write JSON, with references resolved.")
    var json = false

    @Flag(help: "Write the file's property list as XML, with nothing resolved.")
    var xml = false

    @Flag(help: "Write one line of JSON for each file: file, sha256, classes, top, found, error.")
    var jsonLines = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Show only the paths of values, keys and classes that contain a text, ignoring case.", valueName: "text"))
    var find: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The number of levels to show.", valueName: "n"))
    var depth: Int?

    @Flag(help: "Show long strings and data in full.")
    var full = false

    @Flag(name: .customLong("no-color"), help: "Do not use colours.")
    var noColor = false

    @Argument(help: "The file, or two to compare; - is standard input.", completion: .file())
    var files: [String]

    func validate() throws {
        if json, xml { throw ValidationError("--json and --xml exclude each other.") }
        if let depth, depth < 0 { throw ValidationError("--depth takes a number from 0.") }
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
        if jsonLines || find != nil {
            var survey = ArchiveSurvey(
                output, search: find.map { TreeSearch($0) }, writesJSON: jsonLines, leafText: leafText(output))
            return try survey.run(files)
        }
        let file = files[0]
        let tree = try open(file)
        if files.count > 1 {
            let isSame = try compare(tree, try open(files[1]), output)
            output.flush()
            if !isSame { throw ExitCode(ArchiveFiles.different) }
            return
        }
        guard let path else {
            if xml { return try writeXML(tree, nil) }
            if json { return try writeJSON(tree, nil, output) }
            var drawing = TreeDrawing(tree, leafText: leafText(output), maximumDepth: depth ?? .max)
            output.line([(.detail, heading(tree))])
            try drawing.draw { try emit($0, output) }
            return output.flush()
        }
        let place = try place(path, of: tree, file)
        if xml { return try writeXML(place.tree, place.node) }
        if json { return try writeJSON(place.tree, place.node, output) }
        var drawing = TreeDrawing(place.tree, leafText: leafText(output), maximumDepth: depth ?? .max)
        try drawing.draw(place.node) { try emit($0, output) }
        output.flush()
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

    private func open(_ path: String) throws -> ArchiveTree {
        let (reader, format) = try ArchiveFiles.propertyList(path)
        return ArchiveTree(reader, format: format ?? .binary)
    }

    private func place(
        _ path: String, of tree: ArchiveTree, _ file: String
    ) throws -> (tree: ArchiveTree, node: ArchiveTree.Node) {
        let steps: TreePath
        do throws(ArchiveError) { steps = try TreePath(path) } catch { throw ValidationError(error.message) }
        do throws(ArchiveError) {
            return try tree.place(at: steps)
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

    private func writeJSON(_ tree: ArchiveTree, _ node: ArchiveTree.Node?, _ output: TextOutput) throws {
        var writer = TreeJSON(tree)
        func emit(_ bytes: [UInt8]) throws {
            output.append(json: bytes)
            if output.isClosed { throw ExitCode.success }
        }
        do {
            if let node { try writer.write(node, emit) } else { try writer.write(emit) }
        } catch let error as ArchiveError {
            output.flush()
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(files[0])): \(error)")
        }
        output.flush()
    }

    private func writeXML(_ tree: ArchiveTree, _ node: ArchiveTree.Node?) throws {
        do throws(PropertyListError) {
            let bytes: [UInt8]
            if let node {
                let writer = BinaryPropertyListWriter()
                let top = try writer.add(tree.objectNumber(of: node), of: tree.propertyList)
                bytes = try BinaryPropertyListReader(try writer.finish(topObject: top)).xml()
            } else {
                bytes = try tree.propertyList.xml()
            }
            try? ArchiveFiles.write(bytes, to: "-", as: .xml)
        } catch {
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(files[0])): \(error)")
        }
    }

    // MARK: - Two files

    private func compare(_ old: ArchiveTree, _ new: ArchiveTree, _ output: TextOutput) throws -> Bool {
        var (old, new) = (old, new)
        var nodes: (ArchiveTree.Node, ArchiveTree.Node)?
        if let path {
            let (one, other) = (try place(path, of: old, files[0]), try place(path, of: new, files[1]))
            (old, new, nodes) = (one.tree, other.tree, (one.node, other.node))
        }
        var difference = TreeDifference(old, new)
        let text = leafText(output)
        return difference.compare(nodes, at: path ?? "") { change in
            switch change {
            case .removed(let path, let node): output.line([(.error, "- \(path): ")] + Self.line(old, node, text))
            case .added(let path, let node): output.line([(.string, "+ \(path): ")] + Self.line(new, node, text))
            case .changed(let path, let one, let other):
                output.line(
                    [(.label, "~ \(path): ")] + Self.line(old, one, text) + [(.guide, " → ")]
                        + Self.line(new, other, text))
            case .shared(let path):
                output.line([(.reference, "~ \(path): an object that is shared in one file is two in the other")])
            }
        }
    }

    /// A value in one line.
    static func line(_ tree: ArchiveTree, _ node: ArchiveTree.Node, _ text: LeafText) -> TreeDrawing.Line {
        var line: TreeDrawing.Line = []
        var drawing = TreeDrawing(tree, leafText: text, maximumDepth: 0)
        drawing.draw(node) { line = $0 }
        return line
    }
}
