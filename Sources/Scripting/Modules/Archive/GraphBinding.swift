import Application
import Files
import Items
import KeyedArchive
import Lua
import PredicateFormat
import PropertyList

/// `archiver.open`: an archive as a graph, to inspect, change and save.
enum GraphBinding {
    private static let example = "local graph = archiver.open(archiver.archivedData({ { name = \"Bear\" } })) "
    private static let options = LuaParameter(
        "options",
        .optional(
            .options([
                LuaParameter("format", .choice(["binary", "xml"]), "the form; the one it was read in if not given")
            ])),
        "how it is written")

    static func makeClass(_ bridge: ArchiveBridge, _ host: ScriptHost, _ predicates: LuaClass<PredicateValue>)
        -> LuaClass<GraphValue>
    {
        let cls = LuaClass<GraphValue>(
            "Graph",
            "A keyed archive opened without its classes. Collections are tables that remember which they are, objects are "
                + "tables with className; what is not changed is saved as it was.",
            in: bridge.state)
        cls.property(
            "root", .any, "The object under `root`, or under the only key.",
            set: { graph, call in graph.root = call.value(0) }
        ) { graph, call in call.returns(graph.root) }
        cls.property(
            "top", .table, "What was encoded outside any object, by key.",
            set: { graph, call in graph.top = try call.table(0) }
        ) { graph, call in call.returns(LuaValue.table(graph.top)) }
        cls.property(
            "format", .choice(["binary", "xml"]), "The form it was read in, and is saved in.",
            set: { graph, call in
                guard let format = PropertyListFormat(word: call.value(0)) else {
                    throw call.refuse(0, "\"binary\" or \"xml\" expected")
                }
                graph.format = format
            }
        ) { graph, call in call.returns(graph.format.word) }
        inspecting(cls, bridge, predicates)
        keeping(cls, host)
        cls.metamethod("__tostring") { graph, call in
            call.returns("Graph (\(bridge.className(of: graph.root) ?? "no root"))")
        }
        return cls
    }

    // MARK: Inspecting

    private static func inspecting(
        _ cls: LuaClass<GraphValue>, _ bridge: ArchiveBridge, _ predicates: LuaClass<PredicateValue>
    ) {
        cls.method(
            "objects", [LuaParameter("className", .optional(.text), "only those of this class")],
            returns: [.array(.table)],
            "Every object and collection, each once, outermost first.", example: example + "return #graph:objects()"
        ) { graph, call in
            let name = try call.optional(0, call.text)
            return try gather(graph, call) { value in name == nil || bridge.className(of: value) == name }
        }
        cls.method(
            "query",
            [
                LuaParameter(
                    "predicate", .union([.text, .object("Predicate"), .callback("(object: table) → boolean")]),
                    "in NSPredicate's format language, compiled, or a function; className is the class's name"),
                LuaParameter("variables", .optional(.table), "values for $names"),
            ], returns: [.array(.table)], "The objects and dictionaries that a predicate holds for, outermost first.",
            example: example + "return #graph:query(\"name BEGINSWITH $start\", { start = \"B\" })"
        ) { graph, call in
            if case .function(let function) = call.value(0) {
                return try gather(graph, call) { try function.call($0).first?.isTruthy == true }
            }
            let predicate =
                try call.optionalObject(0, predicates)?.predicate ?? PredicateModule.compile(call, 0, bridge.values)
            return try gather(graph, call) { value in
                guard case .table(let table) = value, table.count == 0 else { return false }
                return predicate.evaluate { key in
                    let field = table[key]
                    if field.isNil, key == "className" { return bridge.className(of: value).map { .string($0) } }
                    return try? bridge.values.propertyList(field, takesObjects: true)
                }
            }
        }
        cls.method(
            "walk",
            [
                LuaParameter(
                    "visitor", .callback("(value: any, path: string) → boolean?"),
                    "called with each value and where it is; false leaves out what the value holds")
            ], "Goes through all values, objects once, outermost first.",
            example: example + "graph:walk(function(value, path) print(path, value) end)"
        ) { graph, call in
            let visitor = try call.function(0)
            try graph.walk { value, path in
                if case .boolean(false)? = try visitor.call(value, .text(path?.text ?? "")).first { return false }
                return true
            }
            return call.returnsNothing()
        }
        cls.method(
            "dump", returns: [.string],
            "The graph as indented text, a line a value; shared objects are named by number.",
            example: example + "print(graph:dump())"
        ) { graph, call in
            try refusing(call) { call.returns(try graph.withGraph { $0.dump() }) }
        }
    }

    private static func gather(
        _ graph: GraphValue, _ call: LuaCall, _ isWanted: (LuaValue) throws -> Bool
    ) throws -> LuaResults {
        let found = call.state.makeTable()
        var count: Int64 = 0
        try graph.walk { value, _ in
            guard case .table = value else { return true }
            if try isWanted(value) {
                count += 1
                found[.integer(count)] = value
            }
            return true
        }
        return call.returns(LuaValue.table(found))
    }

    // MARK: Saving

    private static func keeping(_ cls: LuaClass<GraphValue>, _ host: ScriptHost) {
        cls.method(
            "save", [LuaParameter("path", .text, "a path that the sandbox grants"), options],
            returns: LuaType.orError(.boolean), "Writes the archive to a file, whole or not at all.",
            example: example + "return graph:save(app.container.tmp .. \"/a.archive\", { format = \"xml\" })"
        ) { [unowned host] graph, call in
            let path = try call.text(0)
            let format = PropertyListFormat(word: try call.option("format", of: 1))
            return try refusing(call) {
                let bytes = try graph.encoded(as: format)
                return try FileSystemModule.write(call, host, path) { write in
                    try write(bytes)
                    return call.returns(true)
                }
            }
        }
        cls.method(
            "bytes", [options], returns: LuaType.orError(.string), "The archive's bytes.",
            example: example + "return #graph:bytes({ format = \"xml\" })"
        ) { graph, call in
            let format = PropertyListFormat(word: try call.option("format", of: 0))
            return try refusing(call) { call.returns(LuaString(try graph.encoded(as: format))) }
        }
    }

    /// A value that cannot be archived is the script's fault; violations of the format are returned as errors.
    private static func refusing(_ call: LuaCall, _ body: () throws -> LuaResults) throws -> LuaResults {
        do {
            return try body()
        } catch let error as ArchiveValueBuilder.Refusal {
            throw LuaError(.argument, error.message)
        } catch let error as ArchiveError {
            return call.returns(failure: error)
        }
    }
}
