import Application
import Files
import Items
import KeyedArchive
import Logging
import Lua
import PredicateFormat
import PropertyList
import Wording

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

    static func makeClass(_ bridge: ArchiveBridge, _ host: ScriptHost) -> LuaClass<GraphValue> {
        let cls = LuaClass<GraphValue>(
            GraphValue.luaName,
            "A keyed archive opened without its classes. Collections are tables that keep their class, objects are tables "
                + "with className; unchanged parts are saved as they were.",
            in: bridge.state)
        cls.property(
            "root", "The object under `root`, or under the only key.", get: { $0.root }, set: { $0.root = $1 })
        cls.property("top", "The top-level values, by key.", get: { $0.top }, set: { $0.top = $1 })
        cls.property(
            "format", "The format that it was read in, and is saved in.", get: { $0.format }, set: { $0.format = $1 })
        inspecting(cls, bridge, host)
        keeping(cls, host)
        cls.metamethod("__tostring") { graph, call in
            call.returns("Graph (\(bridge.className(of: graph.root) ?? "no root"))")
        }
        return cls
    }

    // MARK: Inspecting

    private static func inspecting(_ cls: LuaClass<GraphValue>, _ bridge: ArchiveBridge, _ host: ScriptHost) {
        cls.method(
            "objects", ["className": "only objects of this class"], returns: [.array(.table)],
            "Every object and collection, each once, outermost first.", example: example + "return #graph:objects()"
        ) { (graph, name: String?) in try gather(graph) { name == nil || bridge.className(of: .table($0)) == name } }
        cls.method(
            "query",
            [
                "predicate": .callback(
                    "(object: table) → boolean",
                    "in NSPredicate's format language, compiled, or a function; className is the class's name"),
                "variables": "values for $names",
            ],
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
            case .format(let text): predicate = try PredicateModule.compile(text, variables, bridge.values)
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
            ], "Visits all values, each object once, outermost first.",
            example: example + "graph:walk(function(value, path) print(path, value) end)"
        ) { (graph, visitor: LuaFunction) in
            try graph.walk { value, path in
                if case .boolean(false)? = try visitor.call(value, .text(path.text)).first { return false }
                return true
            }
        }
        cls.method(
            "dump", [], returns: [.string],
            "The graph as indented text, one line per value; shared objects are numbered.",
            example: example + "print(graph:dump())"
        ) { graph in try refusing { try graph.withGraph { $0.dump() } } }
        cls.method(
            "json", [],
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
        if host.options.isStrict { throw LuaError(.argument, "with --strict: " + text) }
        host.logger.warning("graph:query: \(text)")
        return found
    }

    // MARK: Saving

    private static func keeping(_ cls: LuaClass<GraphValue>, _ host: ScriptHost) {
        cls.method(
            "save", ["path": "a path that the sandbox grants", "options": "how to write the archive"],
            "Writes the archive to a file, atomically.",
            example: example + "return graph:save(app.container.tmp .. \"/a.archive\", { format = \"xml\" })"
        ) { [unowned host] (graph, path: String, options: Saving) in
            try refusing { try graph.encoded(as: options.format) }.flatMap { try host.write($0, to: path) }
        }
        cls.method(
            "bytes", ["options": "how to write the archive"], "The archive's bytes.",
            example: example + "return #graph:bytes({ format = \"xml\" })"
        ) { (graph, options: Saving) in try refusing { LuaString(try graph.encoded(as: options.format)) } }
    }

    /// A value that cannot be archived is the script's fault; violations of the format are the result.
    private static func refusing<Value>(_ body: () throws -> Value) throws -> OrError<Value> {
        do {
            return try OrError(returning: ArchiveError.self, body)
        } catch let error as ArchiveValueBuilder.Refusal {
            throw LuaError(.argument, error.message)
        }
    }
}
