import Application
import ArgumentParser
import KeyedArchive
import PropertyList
import Wording

/// `cubby inspect FILE`, and `cubby inspect OLD NEW`.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show a keyed archive or a property list as a tree, or how two of them differ.",
        discussion: """
            References are resolved and classes named; no class has to be known. An object that several places refer to \
            has its number behind a #.
            With two files: their difference as objects, and exit status 1 when there is one.
            """)

    @Option(
        help: ArgumentHelp(
            "Only what is there: root[0].name, root.0.name, [\"a.b\"], $objects[3].", valueName: "keypath"))
    var path: String?

    @Flag(help: "As JSON, references resolved.")
    var json = false

    @Flag(help: "As the XML property list that is in the file, nothing resolved.")
    var xml = false

    @Option(parsing: .unconditional, help: ArgumentHelp("How many levels to draw.", valueName: "n"))
    var depth: Int?

    @Flag(help: "Show long strings and data whole.")
    var full = false

    @Flag(name: .customLong("no-color"), help: "No colours.")
    var noColor = false

    @Argument(help: "The file; - is standard input.")
    var file: String

    @Argument(help: "Another, to be compared with the first.")
    var other: String?

    func validate() throws {
        if json, xml { throw ValidationError("--json and --xml exclude each other.") }
        if other != nil, json || xml { throw ValidationError("Two files are compared; --json and --xml show one.") }
        if let depth, depth < 0 { throw ValidationError("--depth takes a number from 0.") }
    }

    func run() throws {
        SignalMask.restore()
        let output = TextOutput(noColor: noColor)
        let tree = try open(file)
        if let other {
            let isSame = try compare(tree, try open(other), output)
            output.flush()
            if !isSame { throw ExitCode(ArchiveFiles.different) }
            return
        }
        let node = try node(of: tree, file)
        if xml { return try writeXML(tree, node) }
        if json {
            return try writeJSON(tree, node, output)
        }
        var drawing = TreeDrawing(tree, leafText: leafText(output), maximumDepth: depth ?? .max)
        if let node {
            try drawing.draw(node) { try emit($0, output) }
        } else {
            output.line([(.detail, heading(tree))])
            try drawing.draw { try emit($0, output) }
        }
        output.flush()
    }

    /// Drawing ends when the output's reader is gone.
    private func emit(_ line: TreeDrawing.Line, _ output: TextOutput) throws {
        output.line(line)
        if output.isClosed { throw ExitCode.success }
    }

    private func leafText(_ output: TextOutput) -> LeafText {
        if full { return LeafText(limit: nil) }
        // A value has the terminal's width minus the lines before it.
        return LeafText(limit: output.columns.map { max($0 - 30, 40) } ?? 120)
    }

    private func open(_ path: String) throws -> ArchiveTree {
        let (reader, format) = try ArchiveFiles.propertyList(path)
        return ArchiveTree(reader, format: format ?? .binary)
    }

    private func node(of tree: ArchiveTree, _ file: String) throws -> ArchiveTree.Node? {
        guard let path else { return nil }
        let steps: TreePath
        do throws(ArchiveError) { steps = try TreePath(path) } catch { throw ValidationError(error.message) }
        do throws(ArchiveError) {
            return try tree.node(at: steps)
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
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(file)): \(error)")
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
            throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(file)): \(error)")
        }
    }

    // MARK: - Two files

    private func compare(_ old: ArchiveTree, _ new: ArchiveTree, _ output: TextOutput) throws -> Bool {
        var nodes: (ArchiveTree.Node, ArchiveTree.Node)?
        if let one = try node(of: old, file), let other, let another = try node(of: new, other) {
            nodes = (one, another)
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
    private static func line(_ tree: ArchiveTree, _ node: ArchiveTree.Node, _ text: LeafText) -> TreeDrawing.Line {
        var line: TreeDrawing.Line = []
        var drawing = TreeDrawing(tree, leafText: text, maximumDepth: 0)
        drawing.draw(node) { line = $0 }
        return line
    }
}
