import Application
import Files
import Images
import Items
import KeyedArchive
import LineEditor
import PredicateFormat
import PropertyList
import REPL
import Scripting
import Wording

/// The tools that only read.
extension ToolWork {
    func query() throws {
        var query = host.items.query()
        if !text("predicate").isEmpty { query = try query.filter(FormatPredicate(format: text("predicate"))) }
        let count = try query.count()
        var items: [JSONValue] = []
        for item in try query.first(arguments["limit"]?.number ?? 50) where !values.isFull {
            items.append(values.fields(try item.allFields.values))
        }
        summary = "\(count.counted("item")) selected, \(items.count.grouped) given."
        data = ["count": .number(count), "items": .array(items)]
    }

    func sql() throws {
        let text = text("text")
        let statement = try host.prepare(text)
        defer { statement.close() }
        guard statement.isReadOnly, !statement.columns.isEmpty, statement.parameters.isEmpty else {
            throw ToolError("sql takes a statement that reads, without parameters: run{ script } changes items")
        }
        var rows: [JSONValue] = []
        var hasMore = false
        try host.explaining(text) {
            while !hasMore, let row = try statement.next() {
                hasMore = rows.count == 1000 || values.isFull
                if !hasMore { rows.append(.array(row.map { values.value($0) })) }
            }
        }
        summary = "\(rows.count.counted("row"))\(hasMore ? ", and there are more: LIMIT and OFFSET give them" : "")."
        data = [
            "columns": .array(statement.columns.map { .string($0.name) }), "rows": .array(rows),
            "more": .boolean(hasMore),
        ]
        if !statement.remarks.isEmpty { data["remarks"] = .array(statement.remarks.map { .string($0) }) }
    }

    func describe() throws {
        let name = text("name")
        guard !name.isEmpty else { return try describeFields() }
        guard let help = host.helpText(on: name) else {
            let hint = NearestNames.hint(
                for: name, among: host.helpIndex.map { $0.name.prefix { $0 != "(" } }.map(String.init))
            throw ToolError("there is no help on '\(VisibleText.line(name.shortened(to: 100)))'\(hint)")
        }
        let page = name.prefix { $0 != "." && $0 != ":" }.lowercased()
        let hasPage = APIReference(host).pages.contains { $0.path == page + ".md" }
        data["help"] = .string(values.text(help))
        if hasPage { data["page"] = .string(Self.address("reference", page)) }
        summary = "The help on one name."
    }

    private func describeFields() throws {
        let fields = try host.items.query().describe().map { each in
            JSONValue.object([
                "field": .string(each.field), "kind": .string(each.kind.rawValue), "count": .number(each.count),
                "distinct": .number(each.distinct), "min": values.value(each.min), "max": values.value(each.max),
                "examples": .array(each.examples.map { values.value($0) }),
                "declared": (host.items.declarations[each.field]?.summary).map { .string($0) },
            ])
        }
        summary = "\(host.items.count.counted("item")) with \(fields.count.counted("field"))."
        data = ["fields": .array(fields), "count": .number(host.items.count)]
    }

    func inspect() throws {
        let path = text("path")
        let bytes = try host.attempt(path, .read) { layer in try layer.contents(of: path, limit: 64 << 20) }.get()
        let lines = try ArchiveInspection(bytes, columns: 120).lines(at: nil)
        data["tree"] = .string(values.text(lines.pieces.map(\.text).joined(), limit: 256 << 10))
        summary = "The tree of one file."
    }
}

/// A request for a resource that is not there: an error of the protocol.
struct ResourceError: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }
}

/// The resources: pages of the reference, items, and their pictures.
extension ToolWork {
    /// The number of pages and items of an answer. A cursor is the place of the next one.
    private static let pageSize = 100
    /// The largest size of a picture in bytes.
    private static let pictureSize = 8 << 20

    private static func address(_ kind: String, _ name: String) -> String {
        // All bytes but those that need no encoding (RFC 3986).
        "cubby://\(kind)/"
            + name.utf8.map { byte in
                let character = Character(Unicode.Scalar(byte))
                if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                    return String(character)
                }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
    }

    /// The name of a percent-encoded text; nil for one that is not.
    private static func name(_ text: Substring) -> String? {
        let parts = text.split(separator: "%", omittingEmptySubsequences: false)
        var bytes = Array((parts.first ?? "").utf8)
        for part in parts.dropFirst() {
            guard part.utf8.count >= 2, let byte = UInt8(part.prefix(2), radix: 16) else { return nil }
            bytes += [byte] + Array(part.dropFirst(2).utf8)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    func listResources() throws {
        let pages = APIReference(host).pages
        let count = pages.count + host.items.count
        guard let start = text("cursor").isEmpty ? 0 : Int(text("cursor")), (0...count).contains(start) else {
            throw ResourceError("the cursor is not one of this list")
        }
        let end = min(start + Self.pageSize, count)
        var resources: [JSONValue] = []
        func add(_ kind: String, _ key: String, _ name: String, _ description: String, _ type: String?) {
            resources.append(
                .object([
                    "uri": .string(Self.address(kind, key)), "name": .string(name),
                    "description": .string(description), "mimeType": type.map { .string($0) },
                ]))
        }
        for place in start..<end {
            guard place >= pages.count else {
                let name = String(pages[place].path.dropLast(3))
                add("reference", name, name, "A page of the reference", "text/markdown")
                continue
            }
            guard let item = host.items[place - pages.count] else { continue }
            let (key, name) = (try item.itemKey, VisibleText.line(try item.label.shortened(to: 200)))
            add("item", key, name, "An item; its name is data", "application/json")
            if host.images.hasImage(forKey: key) {
                add("picture", key, name, "The picture of an item; its name is data", nil)
            }
        }
        result = .object(["resources": .array(resources), "nextCursor": end < count ? .string(String(end)) : nil])
    }

    func readResource() throws {
        let uri = text("uri")
        let missing = ResourceError("there is no resource \(VisibleText.line(uri.shortened(to: 200)))")
        let parts = uri.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "cubby:", parts[1].isEmpty, let key = Self.name(parts[3]) else {
            throw missing
        }
        var contents: JSONValue = .object(["uri": .string(uri)])
        let item = host.items.item(forKey: key)
        switch (parts[2], item) {
        case ("reference", _):
            guard let page = APIReference(host).pages.first(where: { $0.path == key + ".md" }) else { throw missing }
            (contents["mimeType"], contents["text"]) = (.string("text/markdown"), .string(page.text))
        case ("item", let item?):
            let json = try values.fields(try item.allFields.values).json()
            (contents["mimeType"], contents["_meta"]) = (.string("application/json"), AssistantText.dataMark)
            contents["text"] = .string(AssistantText.escaped(json))
        case ("picture", _?):
            guard let file = host.images.pictureFiles(forKey: key).first else { throw missing }
            let bytes = try host.files.contents(of: file.path, limit: Self.pictureSize)
            let format = ImageFormat(firstBytes: bytes).map { "image/\($0.rawValue)" }
            (contents["mimeType"], contents["blob"]) = (.string(format ?? "application/octet-stream"), .data(bytes))
        default: throw missing
        }
        result = .object(["contents": .array([contents])])
    }
}
