import Application
import Files
import Glibc
import Items
package import KeyedArchive
package import LineEditor
import Lua
import PropertyList
import Scripting

/// An archive or a property list as lines for the prompt, and what the last save has changed in that of the store.
package struct ArchiveInspection {
    private let tree: ArchiveTree
    private let leafText: LeafText

    /// The number of lines of the tree that are drawn.
    private static let lineLimit = 20_000
    /// The number of differences that are listed.
    private static let changeLimit = 200

    /// Ends a drawing.
    private struct Enough: Error {}

    /// - Parameters:
    ///   - bytes: of an archive, or of a property list in any form.
    ///   - columns: the width of the screen.
    /// - Throws: `ArchiveError` when they are none.
    package init(_ bytes: [UInt8], columns: Int) throws(ArchiveError) {
        tree = try ArchiveTree(PropertyListStorage(bytes))
        leafText = LeafText(limit: max(columns - 30, 40))
    }

    /// The tree, or the part at a path.
    ///
    /// - Throws: `ArchiveError` for a path that leads nowhere.
    package func lines(at path: TreePath?) throws(ArchiveError) -> StyledText {
        var (tree, node) = (tree, ArchiveTree.Node?.none)
        if let path {
            if let inner = try tree.embedded(at: path) {
                tree = inner
            } else {
                let place = try tree.place(at: path)
                (tree, node) = (place.tree, place.node)
            }
        }
        var text = StyledText()
        if node == nil { text.append(Self.heading(tree) + "\n", .dimmed) }
        var count = 0
        var drawing = TreeDrawing(tree, leafText: leafText, at: path ?? TreePath([])) { "at \($0)" }
        func add(_ line: TreeDrawing.Line) throws(Enough) {
            if count == Self.lineLimit || (count % 256 == 255 && Interruption.isDue) { throw Enough() }
            count += 1
            Self.append(line, to: &text)
        }
        do {
            if let node { try drawing.draw(node, add) } else { try drawing.draw(add) }
        } catch {
            text.append("… and more: a part of it has a path, such as root[0]\n", .dimmed)
        }
        return text
    }

    /// What has changed since an earlier form of the archive.
    func changes(since former: [UInt8]) throws(ArchiveError) -> StyledText {
        var difference = TreeDifference(try ArchiveTree(PropertyListStorage(former)), tree)
        var text = StyledText("The last save changed:\n", .heading)
        var count = 0
        let isSame = difference.compare { [tree, old = difference.old] change in
            count += 1
            guard count <= Self.changeLimit else { return }
            text.append("  ")
            Self.append(change.line(old, tree, leafText), to: &text)
        }
        if isSame { return StyledText("The last save changed nothing.\n", .heading) }
        if count > Self.changeLimit { text.append("  … and \((count - Self.changeLimit).grouped) more\n", .dimmed) }
        return text
    }

    private static func heading(_ tree: ArchiveTree) -> String {
        let form = tree.format == .binary ? "binary" : "XML"
        let kind = tree.archive == nil ? "property list" : "keyed archive"
        return "\(kind), \(form), \(tree.objectCount.counted("object"))"
    }

    private static func append(_ line: TreeDrawing.Line, to text: inout StyledText) {
        for piece in line { text.append(VisibleText.line(piece.text), piece.role.style) }
        text.append("\n")
    }
}

extension TreeDrawing.Role {
    /// The style of its text on a terminal.
    package var style: TextStyle {
        switch self {
        case .guide, .detail: .dimmed
        case .label: .field
        case .className: .type
        case .string, .data: .string
        case .number: .number
        case .date, .constant: .constant
        case .reference: .function
        case .error: .error
        }
    }
}

/// `:inspect`, `:hex`.
extension PromptSession {
    /// `:inspect items.archivePath`: a file's archive or property list, or one in bytes, as a tree.
    func inspect(_ argument: String, then end: @escaping () -> Void) {
        guard !argument.isEmpty else {
            return complain(
                ":inspect takes the path of an archive or a property list, or its bytes: :inspect items.archivePath",
                then: end)
        }
        values(of: argument) { [self] values in
            defer { end() }
            guard let values else { return }
            if values.first?.isNil ?? true, host.items.archivePath == nil, LuaText(argument).name(2) == "archivePath" {
                return complain("a container in memory has no archive; archiver.archivedData gives the bytes of one")
            }
            guard let given = subject(values, of: ":inspect") else { return }
            let path = values.count > 1 ? values[1].textValue : nil
            do {
                let steps = try path.map { (text) throws(ArchiveError) in try TreePath(text) }
                let isBytes = given.withUnsafeBytes { PropertyListFormat(detecting: $0) != nil }
                let file = isBytes ? nil : String(validating: given, as: UTF8.self)
                guard let bytes = file == nil ? given : try contents(of: file) else { return }
                let inspection = try ArchiveInspection(bytes, columns: printer.columns)
                var text = StyledText()
                if path == nil, let file { text = try changes(inspection, file) }
                for piece in try inspection.lines(at: steps).pieces { text.append(piece.text, piece.style) }
                page(PrintedValues(palette.apply(to: text)))
            } catch {
                complain("\(error)")
            }
        }
    }

    /// What the last save has changed, if a file is the store's archive; nothing for another.
    private func changes(_ inspection: ArchiveInspection, _ file: String) throws -> StyledText {
        guard let former = host.lifeCycle.saver.former, isArchive(file) else { return StyledText() }
        var text: StyledText
        switch try former.state {
        case .unknown: text = StyledText("Nothing was saved since the start.\n", .dimmed)
        case .absent: text = StyledText("The last save was the first.\n", .dimmed)
        case .tooLarge:
            text = StyledText("What the last save changed is not known: the archive is too large.\n", .dimmed)
        case .bytes(let bytes): text = try inspection.changes(since: bytes)
        }
        if host.items.hasChanges { text.append("There are changes since, which the next save writes.\n", .dimmed) }
        text.append("\n")
        return text
    }

    /// The bytes of a file that the sandbox grants; nil after the error is shown.
    private func contents(of path: String?) throws -> [UInt8]? {
        guard let path else {
            complain(":inspect takes a path, or the bytes of an archive or a property list; these bytes are neither")
            return nil
        }
        switch try host.attempt(path, .read, { try $0.contents(of: path, limit: 1 << 28) }) {
        case .success(let bytes): return bytes
        case .failure(let error):
            let isUnsaved = (error as? FileError)?.code == ENOENT && isArchive(path)
            complain("\(error)" + (isUnsaved ? "; nothing was saved yet: items:saveChanges() writes it" : ""))
            return nil
        }
    }

    /// Whether a path is that of the store's archive.
    private func isArchive(_ path: String) -> Bool {
        host.items.archivePath.map {
            PathText.absolute(path, from: host.fence.base) == PathText.absolute($0, from: host.fence.base)
        } ?? false
    }

    /// `:hex value, from, length`: bytes with their characters.
    func hex(_ argument: String, then end: @escaping () -> Void) {
        guard !argument.isEmpty else {
            return complain(":hex takes text or data: :hex fs.read(items.archivePath), 0, 64", then: end)
        }
        values(of: argument) { [self] values in
            defer { end() }
            guard let values, let bytes = subject(values, of: ":hex") else { return }
            let numbers = values.dropFirst().prefix(2).map(\.integerValue)
            guard numbers.allSatisfy({ $0 ?? -1 >= 0 }) else {
                return complain(":hex takes an offset and a number of bytes from 0 behind the value")
            }
            let from = Int(clamping: numbers.first.flatMap { $0 } ?? 0)
            guard from <= bytes.count else {
                return complain("offset \(from.grouped) is behind the end: there are \(bytes.count.counted("byte"))")
            }
            let length = numbers.dropFirst().first.flatMap { $0 }.map { Int(clamping: $0) } ?? HexDump.standardLength
            let text = HexDump(bytes, columns: printer.columns).text(from: from, length: length) {
                ":hex \(CommandValues(argument).value), \($0)"
            }
            page(text)
        }
    }

    /// The bytes of the first value; nil after an error is shown.
    private func subject(_ values: [LuaValue], of command: String) -> [UInt8]? {
        switch values.first ?? .nil {
        case .string(let text): return text.bytes
        // Numbers behind it are the command's own.
        case .nil where values.count > 1 && !isNumber(values[1]):
            complain(host.state.describe(values[1]).description)
            return nil
        case let value:
            if let data = host.values.datas.object(of: value) { return data.bytes }
            complain("\(command) takes text or data, got \(value.isNil ? "nil" : value.typeName.withArticle)")
            return nil
        }
    }

    private func isNumber(_ value: LuaValue) -> Bool {
        switch value {
        case .integer, .number: true
        default: false
        }
    }

    /// The values of a command's argument; nil after an error is shown.
    private func values(of argument: String, then completion: @escaping ([LuaValue]?) -> Void) {
        run(code: CommandValues(argument).code(in: host.state), then: completion)
    }
}

/// Values behind a command: `value, 16, 32`, or `value 16, 32`, as the usage shows them.
struct CommandValues {
    private let argument: String

    init(_ argument: String) { self.argument = argument }

    /// The first value's text, and the numbers behind it.
    private var parts: (value: String, numbers: [String]) {
        let lua = LuaText(argument)
        var end = lua.tokens.count
        var numbers: [String] = []
        while end > 1, numbers.count < 2, lua.tokens[end - 1].kind == .number {
            let hasComma = lua.isToken(end - 2, ",")
            // Behind an operator, a bracket or a name's dot a number belongs to the value.
            guard hasComma || lua.endsOperand(end - 2) else { break }
            numbers.insert(lua.text(lua.tokens[end - 1]), at: 0)
            end -= hasComma ? 2 : 1
        }
        guard end > 0, !numbers.isEmpty else { return (argument, []) }
        return (String(decoding: Array(argument.utf8)[..<lua.tokens[end - 1].range.upperBound], as: UTF8.self), numbers)
    }

    /// The first value's text.
    var value: String { parts.value }

    /// The entry that gives the values.
    func code(in state: LuaState) -> String {
        let code = "return \(argument)"
        if (try? state.load(Array(code.utf8), name: "=(prompt)")) != nil { return code }
        let (value, numbers) = parts
        return "return " + ([value] + numbers).joined(separator: ", ")
    }
}
