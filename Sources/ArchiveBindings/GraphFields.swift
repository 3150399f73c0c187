import KeyedArchive
import Lua
import PredicateFormat
import PropertyList
import Scripting

/// The tables of a graph as predicates see them: instances of Foundation's classes by their values, other objects as
/// dictionaries of their fields.
///
/// | in the archive | for a predicate |
/// | --- | --- |
/// | NSDecimalNumber | an integer, or the nearest real |
/// | NSUUID, NSURL, NSTimeZone, NSLocale, NSRegularExpression | a text; a URL is resolved |
/// | NSAttributedString, NSMutableString | its text |
/// | NSSet, NSCountedSet | its members, each once |
/// | NSOrderedSet, NSIndexPath, NSIndexSet | an array |
/// | NSValue | a dictionary: `location`, `length`; `x`, `y`, `width`, `height`, `origin`, `size`; `top`, `left`, … |
final class GraphFields {
    private struct Node {
        var value: PropertyListValue
        /// The levels below it.
        var height = 0
    }

    private let bridge: ArchiveBridge
    /// How deep the predicate can look. What is deeper, such as an object's owner's owner in a cycle, is only itself.
    private let depth: Int
    /// Whether the predicate reads the fields of attributed strings.
    private let readsAttributes: Bool
    private var known: [UnsafeRawPointer: (node: Node, depth: Int)] = [:]
    /// The values of instances of Foundation's classes with fields of their own.
    private var values: [UnsafeRawPointer: PropertyListValue] = [:]
    /// The numbers of tables that are only themselves.
    private var opaque: [UnsafeRawPointer: UInt32] = [:]
    private let tables: [LuaTable]

    private static let maximumDepth = 256
    /// Index sets of more indexes are their text.
    private static let maximumIndexes = 100_000

    /// - Parameters:
    ///   - predicate: the predicate.
    ///   - tables: all tables of the graph.
    ///   - bridge: the relation between archives and Lua.
    init(_ predicate: FormatPredicate, _ tables: [LuaTable], _ bridge: ArchiveBridge) {
        self.bridge = bridge
        self.tables = tables
        let text = predicate.format
        depth = min(2 + text.utf8.count { ".[({".utf8.contains($0) }, Self.maximumDepth)
        readsAttributes = text.contains(".NSString") || text.contains(".NSAttribute")
        decodeFoundation()
    }

    /// The value of a table's field; nil when it has none.
    func value(of key: String, in table: LuaTable) -> PropertyListValue? {
        if key == PredicateKeyPath.selfKey { return node(of: .table(table), depth).value }
        let field = table[key]
        if field.isNil {
            return key == "className" ? bridge.className(of: .table(table)).map { .string($0) } : nil
        }
        return node(of: field, depth).value
    }

    // MARK: Values

    private func node(of value: LuaValue, _ depth: Int) -> Node {
        switch value {
        case .nil: return Node(value: .null)
        case .boolean(let value): return Node(value: .boolean(value))
        case .integer(let value): return Node(value: .integer(value))
        case .number(let value): return Node(value: .real(value))
        case .string(let text): return Node(value: text.text.map { .string($0) } ?? .data(text.bytes))
        case .userdata:
            if let box = bridge.foundation.object(of: value), let small = box.foundation {
                return Node(value: Self.value(small))
            }
            return Node(value: (try? bridge.values.propertyList(value)) ?? .null)
        case .table(let table): return node(of: table, depth)
        case .function, .thread: return Node(value: .null)
        }
    }

    private func node(of table: LuaTable, _ depth: Int) -> Node {
        guard let identity = table.identity else { return Node(value: .null) }
        if let value = values[identity] { return Node(value: value) }
        // A value that ends above its depth is the same at every greater one.
        if let known = known[identity], known.depth == depth || known.node.height < min(depth, known.depth) {
            return known.node
        }
        guard depth > 0 else {
            let number = opaque[identity] ?? UInt32(truncatingIfNeeded: opaque.count)
            opaque[identity] = number
            return Node(value: .uid(number))
        }
        var node = Node(value: .null)
        func part(_ value: LuaValue) -> PropertyListValue {
            let inner = self.node(of: value, depth - 1)
            node.height = max(node.height, inner.height + 1)
            return inner.value
        }
        let kind = bridge.kind(of: table)
        switch kind?.form {
        case .countedSet: node.value = .set(TableChildren(table, bridge).all.map { part($0.key) })
        case .collection(.set, _): node.value = .set(elements(table).map(part))
        case .collection, .list: node.value = .array(elements(table).map(part))
        case .foreign(let archived) where Self.isAttributed(archived) && !readsAttributes:
            node.value = part(table["NSString"])
        case .foreign(let archived):
            node.value = foreignCollection(table, archived.name, part) ?? fields(table, part)
        case nil where ReadOnlyTable.shape(of: table) == .set: node.value = .set(elements(table).map(part))
        case nil where table.count > 0: node.value = .array(elements(table).map(part))
        default: node.value = fields(table, part)
        }
        // Depth 0 below counts as deep as can be.
        known[identity] = (node, depth)
        return node
    }

    private func elements(_ table: LuaTable) -> [LuaValue] {
        let contents = ((try? ReadOnlyTable.contents(of: .table(table))) ?? nil) ?? table
        return (0..<contents.count).map { contents[.integer(Int64($0 + 1))] }
    }

    private func fields(_ table: LuaTable, _ part: (LuaValue) -> PropertyListValue) -> PropertyListValue {
        let contents = ((try? ReadOnlyTable.contents(of: .table(table))) ?? nil) ?? table
        var entries = PropertyListDictionary()
        for child in TableChildren(contents, bridge).all { entries[part(child.key)] = part(child.value) }
        if entries["className"] == nil, let name = bridge.className(of: .table(table)) {
            entries["className"] = .string(name)
        }
        return .dictionary(entries)
    }

    /// A collection that has its archived form, because it has more than its elements; nil for other objects.
    private func foreignCollection(
        _ table: LuaTable, _ name: String, _ part: (LuaValue) -> PropertyListValue
    ) -> PropertyListValue? {
        func list(_ key: String, _ prefixes: [String]) -> [LuaValue] {
            if case .table(let list) = table[key] { return elements(list) }
            for prefix in prefixes {
                var found: [LuaValue] = []
                while case let value = table["\(prefix)\(found.count)"], !value.isNil { found.append(value) }
                if !found.isEmpty { return found }
            }
            return []
        }
        switch name {
        case "NSArray", "NSMutableArray", "NSOrderedSet", "NSMutableOrderedSet":
            return .array(list("NS.objects", ["NS.object."]).map(part))
        case "NSSet", "NSMutableSet", "NSCountedSet":
            return .set(list("NS.objects", ["NS.object.", "NS.object"]).map(part))
        case "NSDictionary", "NSMutableDictionary":
            var entries = PropertyListDictionary()
            for (key, value) in zip(list("NS.keys", ["NS.key."]), list("NS.objects", ["NS.object."])) {
                entries.insert(part(value), forKey: part(key))
            }
            return .dictionary(entries)
        default: return nil
        }
    }

    private static func isAttributed(_ archived: ArchivedClass) -> Bool {
        ([archived.name] + archived.superclasses).contains("NSAttributedString")
    }

    // MARK: Foundation's classes

    /// Decodes the instances of Foundation's classes that a graph keeps with their fields.
    private func decodeFoundation() {
        let wanted = tables.filter { table in
            guard case .foreign(let archived)? = bridge.kind(of: table)?.form else { return false }
            return KeyedUnarchiver.decodesItself(className: archived.name)
        }
        guard !wanted.isEmpty else { return }
        let output = ArchiveValueBuilder(bridge)
        defer { output.finish() }
        let objects = wanted.map { (try? output.value(.table($0), ArchiveValueBuilder.Path("root"))) ?? nil }
        let graph = ArchiveGraph(root: .collection(ArchivedCollection(elements: objects)))
        guard let bytes = try? graph.encoded(as: .binary), let reader = try? BinaryPropertyListReader(bytes) else {
            return
        }
        let tree = ArchiveTree(reader)
        guard let root = tree.roots.first?.node else { return }
        for (table, child) in zip(wanted, tree.children(root)) {
            guard let identity = table.identity else { continue }
            switch tree.value(child.node).content {
            case .leaf(let leaf): values[identity] = leaf
            case .value(let small): values[identity] = Self.value(small)
            default: break
            }
        }
    }

    private static func value(_ small: FoundationValue) -> PropertyListValue {
        switch small {
        case .decimal(let decimal): return decimal.propertyListValue
        case .uuid, .url, .timeZone, .locale, .regularExpression: return .string(LeafText.plain(small))
        case .point(let x, let y): return .dictionary(["x": .real(x), "y": .real(y)])
        case .size(let width, let height): return .dictionary(["width": .real(width), "height": .real(height)])
        case .rect(let x, let y, let width, let height):
            return .dictionary([
                "x": .real(x), "y": .real(y), "width": .real(width), "height": .real(height),
                "origin": value(.point(x: x, y: y)), "size": value(.size(width: width, height: height)),
            ])
        case .range(let location, let length):
            return .dictionary(["location": .integer(location), "length": .integer(length)])
        case .edgeInsets(let top, let left, let bottom, let right):
            return .dictionary(["top": .real(top), "left": .real(left), "bottom": .real(bottom), "right": .real(right)])
        case .indexSet(let ranges, _):
            var count = 0
            for range in ranges where count <= maximumIndexes { count = min(count + range.count, maximumIndexes + 1) }
            guard count <= maximumIndexes else { return .string(LeafText(limit: nil).text(small)) }
            return .array(ranges.flatMap { range in range.map { .integer($0) } })
        case .indexPath(let indexes): return .array(indexes.map { .integer($0) })
        case .affineTransform(let numbers): return .array(numbers.map { .real(Double($0)) })
        }
    }
}
