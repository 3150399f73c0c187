import Application
import Files
import Items
import KeyedArchive
import Logging
import Lua
import PredicateFormat
import PropertyList
import Scripting

/// `archiver.open`: an archive as a graph, to inspect, change and save.
enum GraphBinding {
    private static let example = "local graph = archiver.open(archiver.archivedData({ { name = \"Bear\" } })) "
    /// Options for saving an archive.
    private struct Saving: LuaOptions {
        var format: PropertyListFormat?

        static var luaOptions: [LuaOption<Saving>] {
            LuaOption("format", \.format, doc: "the format (default: the graph's format)")
        }
    }

    static func declareClass(_ bridge: ArchiveBridge, _ host: ScriptHost) {
        let cls = LuaClass<GraphValue>(
            GraphValue.luaName,
            doc:
                "A keyed archive opened without its classes. Collections are tables that keep their class, objects are tables "
                + "with className; unchanged parts are saved as they were.",
            in: bridge.state)
        cls.property(
            "root", doc: "The object under `root`, or under the only key.", get: { $0.root }, set: { $0.root = $1 })
        cls.property("top", doc: "The top-level values, by key.", get: { $0.top }, set: { $0.top = $1 })
        cls.property(
            "format", doc: "The format that it was read in, and is saved in.", get: { $0.format },
            set: { $0.format = $1 })
        inspecting(cls, bridge, host)
        keeping(cls, host)
        cls.metamethod("__tostring") { graph, call in
            call.returns("Graph (\(bridge.className(of: graph.root) ?? "no root"))")
        }
    }

    // MARK: Inspecting

    private static func inspecting(_ cls: LuaClass<GraphValue>, _ bridge: ArchiveBridge, _ host: ScriptHost) {
        cls.method(
            "objects", ["className": "only objects of this class"], returns: [.array(.table)],
            doc: "Every object and collection, each once, outermost first.",
            example: example + "return #graph:objects()"
        ) { (graph, name: String?) in try gather(graph) { name == nil || bridge.className(of: .table($0)) == name } }
        cls.method(
            "query",
            [
                "predicate": .callback(
                    "(object: table) → boolean",
                    "in NSPredicate's format language, compiled, or a function; className is the class's name"),
                "variables": "values for $names",
            ],
            doc:
                "The objects and dictionaries that satisfy a predicate, outermost first. Instances of Foundation's classes compare "
                + "by value: decimal numbers as numbers, UUIDs and URLs as text, sets by their members. Objects whose values "
                + "are of kinds that a comparison does not take are counted in one warning, with `--strict` in an error.",
            example: example + "return #graph:query(\"name BEGINSWITH $start\", { start = \"B\" })"
        ) { [unowned host] (graph, condition: ConditionArgument, variables: LuaTable?) in
            let predicate: FormatPredicate
            switch condition {
            case .function(let function):
                return try gather(graph) { try function.call(.table($0)).first?.isTruthy == true }
            case .predicate(let value): predicate = value.predicate
            case .format(let text): predicate = try PredicateValue.compile(text, variables, bridge.values)
            }
            return try matches(predicate, graph, bridge, host)
        }
        cls.method(
            "walk",
            [
                "visitor": .callback(
                    "(value: any, path: string) → boolean?",
                    "called with each value and its path, in the syntax of `cubby inspect --path`; false skips the value's contents"
                )
            ], doc: "Visits all values, each object once, outermost first.",
            example: example + "graph:walk(function(value, path) print(path, value) end)"
        ) { (graph, visitor: LuaFunction) in
            try graph.walk { value, path in
                if case .boolean(false)? = try visitor.call(value, .text(path.text)).first { return false }
                return true
            }
        }
        cls.method(
            "dump", returns: LuaType.orError(.string),
            doc: "The graph as indented text, one line per value; shared objects are numbered.",
            example: example + "print(graph:dump())"
        ) { graph in try refusing { try graph.withGraph { $0.dump() } } }
        cls.method(
            "json",
            doc:
                "The graph as the JSON of `cubby inspect --json`: an object has its class as `$class`; a shared object has a number "
                + "as `$id`, and is `{\"$ref\": number}` elsewhere.",
            example: example + "return json.decode(graph:json()).root[1].name"
        ) { graph in try refusing { try graph.withGraph { try $0.json() } } }
    }

    private static func gather(_ graph: GraphValue, _ isWanted: (LuaTable) throws -> Bool) throws -> [LuaTable] {
        var found: [LuaTable] = []
        try graph.walk { value, _ in
            if case .table(let table) = value, try isWanted(table) { found.append(table) }
            return true
        }
        return found
    }

    /// The objects that satisfy a predicate. Those that a comparison does not take are counted and said.
    private static func matches(
        _ predicate: FormatPredicate, _ graph: GraphValue, _ bridge: ArchiveBridge, _ host: ScriptHost
    ) throws -> [LuaTable] {
        let tables = try gather(graph) { _ in true }
        let fields = GraphFields(predicate, tables, bridge)
        var found: [LuaTable] = []
        var (order, counts): ([[String]], [[String]: Int]) = ([], [:])
        for table in tables where table.count == 0 {
            if predicate.evaluate({ fields.value(of: $0, in: table) }) { found.append(table) }
            var audit = PredicateAudit { fields.value(of: $0, in: table) }
            guard audit.joined([predicate.node], decisive: false) == nil else { continue }
            var seen: Set<[String]> = []
            for (comparison, fault) in audit.undecided {
                let key = [PredicateNode.comparison(comparison).description, "\(fault.subject) \(fault.text)"]
                guard seen.insert(key).inserted else { continue }
                if counts[key] == nil { order.append(key) }
                counts[key, default: 0] += 1
            }
        }
        guard !order.isEmpty else { return found }
        let text = order.map { "\($0[0]) left out \((counts[$0] ?? 0).counted("object")) whose \($0[1])" }
            .joined(separator: "; ")
        try host.report(loss: "graph:query: \(text)")
        return found
    }

    // MARK: Saving

    private static func keeping(_ cls: LuaClass<GraphValue>, _ host: ScriptHost) {
        cls.method(
            "save", ["path": "a path that the sandbox grants", "options": "how to write the archive"],
            doc: "Writes the archive to a file, atomically.",
            example: example + "return graph:save(app.container.tmp .. \"/a.archive\", { format = \"xml\" })"
        ) { [unowned host] (graph, path: String, options: Saving) in
            try refusing { try bytes(of: graph, options, host) }.flatMap { try host.write($0, to: path) }
        }
        cls.method(
            "bytes", ["options": "how to write the archive"], doc: "The archive's bytes.",
            example: example + "return #graph:bytes({ format = \"xml\" })"
        ) { [unowned host] (graph, options: Saving) in
            try refusing { LuaString(try bytes(of: graph, options, host)) }
        }
    }

    private static func bytes(of graph: GraphValue, _ options: Saving, _ host: ScriptHost) throws -> [UInt8] {
        try host.propertyList(graph.binary(), as: options.format ?? graph.format)
    }

    /// A value that cannot be archived is the script's fault; violations of the format are the result.
    private static func refusing<Value>(_ body: () throws -> Value) throws -> OrError<Value> {
        do {
            return try OrError(returning: ArchiveError.self, body)
        } catch let error as ArchiveValueBuilder.BuildError {
            throw LuaError(.argument, error.message)
        }
    }
}

/// An archive opened without classes: in its original form until a script accesses it, then as tables.
final class GraphValue {
    let bridge: ArchiveBridge
    var format: PropertyListFormat
    private let archiverName: String
    private let outerEntries: [(key: PropertyListValue, value: PropertyListValue)]
    private let unusedClasses: [ArchivedClass]
    private var graph: ArchiveGraph?
    /// The archive's top by key, and the unreferenced objects.
    private var tables: (top: LuaTable, otherObjects: LuaTable)?
    /// The UIDs of the unreferenced objects in the opened archive.
    private let unreferencedUIDs: [UInt32]

    init(_ graph: ArchiveGraph, _ bridge: ArchiveBridge) {
        self.graph = graph
        self.bridge = bridge
        format = graph.format
        archiverName = graph.archiverName
        outerEntries = graph.outerEntries
        unusedClasses = graph.unusedClasses
        unreferencedUIDs = graph.unreferencedUIDs
    }

    deinit { graph?.dismantle() }

    private func opened() -> (top: LuaTable, otherObjects: LuaTable) {
        if let tables { return tables }
        let input = LuaValueBuilder(bridge)
        let opened = (input.table(of: graph?.top ?? []), input.table(of: graph?.unreferenced ?? []))
        input.finish()
        graph = nil
        tables = opened
        return opened
    }

    var top: LuaTable {
        get { opened().top }
        set { tables = (newValue, opened().otherObjects) }
    }

    /// The key of the root object: `root`, or the only one.
    private var rootKey: LuaValue {
        let root = LuaValue.text(KeyedArchiver.rootKey)
        guard top[root].isNil else { return root }
        let order = bridge.memory(of: top)?.order.map(\.lua) ?? TableChildren(top, bridge).all.map(\.key)
        return order.count == 1 ? order[0] : root
    }

    var root: LuaValue {
        get { top[rootKey] }
        set { top[rootKey] = newValue }
    }

    /// Visits each value, objects once, outermost first; a result of false skips the value's contents.
    func walk(_ body: (LuaValue, GraphPath) throws -> Bool) throws {
        let (top, otherObjects) = opened()
        var seen: Set<UnsafeRawPointer> = []
        var retained: [LuaTable] = []
        var waiting: [(table: LuaTable, path: GraphPath)] = []
        func visit(_ value: LuaValue, _ path: GraphPath) throws {
            guard case .table(let table) = value, let identity = table.identity else {
                _ = try body(value, path)
                return
            }
            guard seen.insert(identity).inserted else { return }
            retained.append(table)
            if try body(value, path) { waiting.append((table, path)) }
        }
        func visitContents(of table: LuaTable, _ path: GraphPath?) throws {
            let form = bridge.kind(of: table)?.form
            for (position, child) in TableChildren(table, bridge).all.enumerated() {
                let steps = GraphPath.steps(to: child.key, at: position, in: table, as: form, bridge)
                if Self.isVisited(child.key, in: form) { try visit(child.key, GraphPath(steps.key, below: path)) }
                try visit(child.value, GraphPath(steps.value, below: path))
            }
        }
        try visitContents(of: top, nil)
        for (index, uid) in unreferencedUIDs.enumerated() {
            try visit(otherObjects[.integer(Int64(index + 1))], GraphPath(object: uid))
        }
        var next = 0
        while next < waiting.count {
            let (table, path) = waiting[next]
            next += 1
            try visitContents(of: table, path)
            if next == 4096 {
                waiting.removeFirst(next)
                next = 0
            }
        }
    }

    /// Whether a key is a value of its own: a member of a counted set, a date, an object.
    private static func isVisited(_ key: LuaValue, in form: TableKind.Form?) -> Bool {
        switch (form, key) {
        case (.countedSet?, _), (_, .table), (_, .userdata): true
        default: false
        }
    }

    /// Runs a body on the graph in its Swift form.
    func withGraph<Result>(_ body: (ArchiveGraph) throws -> Result) throws -> Result {
        if let graph { return try body(graph) }
        let (top, otherObjects) = opened()
        let output = ArchiveValueBuilder(bridge)
        defer { output.finish() }
        let fields = try output.fields(of: top, ArchiveValueBuilder.Path("top"))
        let unreferenced =
            try output.value(.table(otherObjects), ArchiveValueBuilder.Path("unreferenced"))?.elements ?? []
        let saved = ArchiveGraph(
            top: fields, unreferenced: unreferenced.compactMap { $0 }, format: format, archiverName: archiverName)
        saved.outerEntries = outerEntries
        saved.unusedClasses = unusedClasses
        return try body(saved)
    }

    /// The archive's bytes in the binary form.
    func binary() throws -> [UInt8] { try withGraph { try $0.encoded(as: .binary) } }
}

extension GraphValue: LuaInstance { static let luaName = "Graph" }

/// The path of a value in an opened archive, linked to that of its container: `cubby inspect --path` takes its text.
final class GraphPath {
    private let above: GraphPath?
    private let step: TreePath.Step
    /// The number of linked steps, and whether steps above them were cut off.
    private let count: Int
    private let isCut: Bool
    private static let maximumCount = 256

    init(_ step: TreePath.Step, below above: GraphPath? = nil) {
        self.step = step
        // With an unlimited chain, the cost of each value's path would be proportional to its depth.
        if let above, above.count == Self.maximumCount {
            (self.above, count, isCut) = (nil, 1, true)
        } else {
            (self.above, count, isCut) = (above, (above?.count ?? 0) + 1, above?.isCut ?? false)
        }
    }

    /// The path of an object by its number.
    convenience init(object uid: UInt32) {
        self.init(TreePath.Step(.index(Int(uid))), below: GraphPath(.objects))
    }

    /// `root.items[3].f`; for a very deep value only the last steps, after `…`.
    var text: String {
        var steps: [TreePath.Step] = []
        var next: GraphPath? = self
        while let path = next {
            steps.append(path.step)
            next = path.above
        }
        return (isCut ? "…" : "") + TreePath(steps.reversed()).description
    }

    /// The steps to a table's child and to its key, if an archived dictionary has an object as the key.
    ///
    /// - Parameters:
    ///   - key: the child's key.
    ///   - position: its position among the table's children.
    ///   - table: the table.
    ///   - form: the table's archived form, if any.
    ///   - bridge: stores the keys of the archive.
    /// - Returns: the steps to the key and to the value.
    static func steps(
        to key: LuaValue, at position: Int, in table: LuaTable, as form: TableKind.Form?, _ bridge: ArchiveBridge
    ) -> (key: TreePath.Step, value: TreePath.Step) {
        let entry = (key: TreePath.Step(.entryKey(position)), value: TreePath.Step(.entryValue(position)))
        switch (form, key) {
        case (.countedSet?, _):
            return (TreePath.Step(.index(position)), TreePath.Step(.key("NS.count\(position)")))
        case (_, .string(let text)): return (entry.key, TreePath.Step(.key(text.description)))
        case (.dictionary?, .integer(let number)):
            // A string or a real number may have the same text.
            let isOther = bridge.memory(of: table)?.keys[.integer(number)] != nil || !table[.text("\(number)")].isNil
            guard !isOther, let place = Int(exactly: number), place >= 0 else { return entry }
            return (entry.key, TreePath.Step(.index(place)))
        case (.collection?, .integer(let place)), (.list?, .integer(let place)), (nil, .integer(let place)):
            guard place > 0, let index = Int(exactly: place - 1) else { return entry }
            return (entry.key, TreePath.Step(.index(index)))
        default: return entry
        }
    }
}
