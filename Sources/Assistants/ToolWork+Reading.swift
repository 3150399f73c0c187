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
            throw Denial("sql takes a statement that reads, without parameters: run{ script } changes items")
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
        let columns = statement.columns.map { JSONValue.string($0.name) }
        data = ["columns": .array(columns), "rows": .array(rows), "more": .boolean(hasMore)]
        if !statement.remarks.isEmpty { data["remarks"] = statement.remarks.jsonValue }
    }

    func describe() throws {
        let name = text("name")
        guard !name.isEmpty else { return try describeFields() }
        guard let help = host.helpText(on: name) else {
            let hint = NearestNames.hint(for: name, among: host.helpIndex.map { String($0.name.prefix { $0 != "(" }) })
            throw Denial("there is no help on '\(VisibleText.line(name.shortened(to: 100)))'\(hint)")
        }
        let page = name.prefix { $0 != "." && $0 != ":" }.lowercased()
        data["help"] = .string(values.text(help))
        if pageNames.contains(page) { data["page"] = .string(Self.address("reference", page)) }
        summary = "The help on one name."
    }

    private func describeFields() throws {
        let fields = try host.items.query().describe().map { each in
            JSONValue.of([
                "field": each.field, "kind": each.kind.rawValue, "count": each.count, "distinct": each.distinct,
                "min": values.value(each.min), "max": values.value(each.max),
                "examples": each.examples.map { values.value($0) },
                "declared": host.items.declarations[each.field]?.summary,
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

/// The resources: pages of the reference, items, and their pictures.
extension ToolWork {
    /// The number of pages and items of an answer. A cursor is the place of the next one.
    private static let pageSize = 100
    /// The largest size of a picture in bytes.
    private static let pictureSize = 8 << 20

    private static func address(_ kind: String, _ name: String) -> String { "cubby://\(kind)/\(name.percentEncoded)" }

    /// The names of the reference's pages.
    private var pageNames: [String] { APIReference(host).pages.map { String($0.path.dropLast(".md".count)) } }

    func listResources() throws {
        let pages = pageNames
        let count = pages.count + host.items.count
        guard let start = text("cursor").isEmpty ? 0 : Int(text("cursor")), (0...count).contains(start) else {
            throw Denial(.resource, "the cursor is not one of this list")
        }
        let end = min(start + Self.pageSize, count)
        var resources: [JSONValue] = []
        func add(_ kind: String, _ key: String, _ name: String, _ description: String, _ type: String?) {
            let uri = Self.address(kind, key)
            resources.append(.of(["uri": uri, "name": name, "description": description, "mimeType": type]))
        }
        for place in start..<end {
            if place < pages.count {
                add("reference", pages[place], pages[place], "A page of the reference", "text/markdown")
            } else if let item = host.items[place - pages.count] {
                let (key, name) = (try item.itemKey, VisibleText.line(try item.label.shortened(to: 200)))
                add("item", key, name, "An item; its name is data", "application/json")
                guard host.images.hasImage(forKey: key) else { continue }
                add("picture", key, name, "The picture of an item; its name is data", nil)
            }
        }
        result = .of(["resources": resources, "nextCursor": end < count ? String(end) : nil])
    }

    func readResource() throws {
        let uri = text("uri")
        let missing = Denial(.resource, "there is no resource \(VisibleText.line(uri.shortened(to: 200)))")
        let parts = uri.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "cubby:", parts[1].isEmpty else { throw missing }
        let key = parts[3].percentDecoded
        var contents = JSONValue.of(["uri": uri])
        switch (parts[2], host.items.item(forKey: key)) {
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
        result = .of(["contents": [contents]])
    }
}
