import KeyedArchive
import Lua
import PropertyList

/// An archive opened without classes: in its original form until a script accesses it, then as tables.
final class GraphValue {
    let bridge: ArchiveBridge
    var format: PropertyListFormat
    private let archiverName: String
    private let outerEntries: [(key: PropertyListValue, value: PropertyListValue)]
    private let unusedClasses: [ArchivedClass]
    private var graph: ArchiveGraph?
    /// The archive's top by key, and the unreferenced objects.
    private var tables: (top: LuaTable, others: LuaTable)?
    private let encoders: LuaClass<ArchiveEncoder>
    /// The UIDs of the unreferenced objects in the opened archive.
    private let unreferencedUIDs: [UInt32]

    init(_ graph: ArchiveGraph, _ bridge: ArchiveBridge, _ encoders: LuaClass<ArchiveEncoder>) {
        self.graph = graph
        self.bridge = bridge
        self.encoders = encoders
        format = graph.format
        archiverName = graph.archiverName
        outerEntries = graph.outerEntries
        unusedClasses = graph.unusedClasses
        unreferencedUIDs = graph.unreferencedUIDs
    }

    deinit { graph?.dismantle() }

    private func opened() -> (top: LuaTable, others: LuaTable) {
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
        set { tables = (newValue, opened().others) }
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
        let (top, others) = opened()
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
            try visit(others[.integer(Int64(index + 1))], GraphPath(object: uid))
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
        let (top, others) = opened()
        let output = ArchiveValueBuilder(bridge)
        defer { output.finish() }
        var fields = try output.fields(of: top, ArchiveValueBuilder.Path("top"))
        for (index, field) in fields.enumerated() {
            // Outside objects a list of references has no owner.
            if case .objects(let elements) = field.value {
                fields[index].value = .object(.collection(ArchivedCollection(elements: elements)))
            }
        }
        let unreferenced = try output.value(.table(others), ArchiveValueBuilder.Path("unreferenced"))?.elements ?? []
        let saved = ArchiveGraph(
            top: fields, unreferenced: unreferenced.compactMap { $0 }, format: format, archiverName: archiverName)
        saved.outerEntries = outerEntries
        saved.unusedClasses = unusedClasses
        return try body(saved)
    }

    /// The archive's bytes.
    func encoded(as format: PropertyListFormat?) throws -> [UInt8] {
        try withGraph { try $0.encoded(as: format ?? self.format) }
    }
}
