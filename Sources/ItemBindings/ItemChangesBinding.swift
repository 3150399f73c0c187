import Application
import Items
import Lua
import PropertyList
import Scripting

/// `event.changes` of `didCommit`: a commit as a read-only array whose elements are created on access.
enum ItemChangesBinding {
    /// The changes; `hasDays` says whether a field is declared to have days.
    static func array(
        of commit: ItemStoreCommit, _ values: ValueBridge, hasDays: @escaping (String) -> Bool
    ) -> LuaValue {
        .table(
            values.readOnly.makeArray(
                ReadOnlyTable.Elements(count: commit.count) { [unowned values] index in
                    try table(of: commit[index], values, hasDays)
                }, in: values.state))
    }

    private static func table(
        of change: ItemChange, _ values: ValueBridge, _ hasDays: (String) -> Bool
    ) throws -> LuaValue {
        let table = values.state.makeTable(fields: 7)
        func set(_ name: String, _ value: LuaValue) { table[name] = value }
        func number(_ position: Int?) -> LuaValue { position.map { .integer(Int64($0 + 1)) } ?? .nil }
        set("kind", .text(change.kind.rawValue))
        set("itemKey", .text(change.itemKey))
        set("name", .text(change.name))
        set("position", number(change.position))
        switch change.kind {
        case .insert: set("new", try change.fields.map { try fields($0, values, hasDays) } ?? .nil)
        case .remove: set("old", try change.fields.map { try fields($0, values, hasDays) } ?? .nil)
        case .update:
            set("field", change.field.map(LuaValue.text) ?? .nil)
            let isOfDays = change.field.map(hasDays) ?? false
            set("old", try values.readOnly(change.old, isDay: isOfDays))
            set("new", try values.readOnly(change.new, isDay: isOfDays))
        case .move:
            set("old", number(change.formerPosition))
            set("new", number(change.position))
        case .declare:
            set("old", try values.readOnly(change.old))
            set("new", try values.readOnly(change.new))
        }
        return .table(table)
    }

    /// An item's fields by name.
    private static func fields(
        _ fields: ItemFields, _ values: ValueBridge, _ hasDays: (String) -> Bool
    ) throws -> LuaValue {
        let table = values.state.makeTable(fields: 5 + fields.custom.count)
        for (name, value) in fields.values where value != .null {
            table[name] = try values.readOnly(value, isDay: hasDays(name))
        }
        return .table(table)
    }
}

/// A conflict as a Lua object.
final class ConflictValue {
    let conflict: ItemConflict
    init(_ conflict: ItemConflict) { self.conflict = conflict }

    /// The first conflicting change, the part that scripts use most.
    var first: ItemConflict.Change? { conflict.changes.first }
}

extension ConflictValue: LuaInstance { static let luaName = "Conflict" }

/// This host's commits that conflicted with commits of other hosts in a shared collection.
enum ConflictBinding {
    private static let change: LuaFields = [
        LuaParameter("kind", .text, "insert, update, remove, move or declare"),
        LuaParameter("itemKey", .text, "the item's key"), LuaParameter("name", .text, "the item's name"),
        LuaParameter("field", .optional(.text), "the field of an update"),
        LuaParameter("mine", .any, "the value set by the commit"),
        LuaParameter("theirs", .any, "the current value"),
        LuaParameter("base", .any, "the value before both changes"),
        LuaParameter("conflicts", .boolean, "whether theirs is neither mine nor base, or there is a problem"),
        LuaParameter(
            "problem", .optional(.text), "why mine does not fit what is declared, or why the server refused it"),
    ]

    static func makeClass(_ classes: ItemClasses) -> LuaClass<ConflictValue> {
        let host = classes.host
        let cls = LuaClass<ConflictValue>(
            ConflictValue.luaName,
            doc:
                "A commit made while the shared collection's server was unreachable, in conflict with an earlier commit of another host, or refused by the server. It is pending until it is resolved.",
            in: host.state, kind: .box)
        reading(cls, classes)
        cls.method(
            "keepMine", doc: "Reapplies the commit over the other host's changes.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepMine() end"
        ) { [unowned host] value in try host.items.keepMine(value.conflict) }
        cls.method(
            "keepTheirs", doc: "Keeps the items as they are, and discards the commit.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepTheirs() end"
        ) { [unowned host] value in try host.items.keepTheirs(value.conflict) }
        cls.method(
            "resolve",
            [
                "values":
                    "new values by name, of fields that the commit changes, `null` to remove one; for several items, such a table by itemKey"
            ],
            doc: "Reapplies the commit with other values for some fields.",
            example: "local conflict = items:conflicts()[1] if conflict then conflict:resolve{ name = \"Urn\" } end"
        ) { [unowned host] (value, values: LuaTable) in
            guard let given = try host.values.propertyList(.table(values), path: "values").fields else {
                throw LuaMismatch("a table with fields' names as keys expected", argument: "values")
            }
            try host.items.resolve(value.conflict, try byItem(given, value.conflict))
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.conflict.description) }
        return cls
    }

    /// The values by item: `{ field = value }` applies to the conflict's only item.
    private static func byItem(
        _ given: PropertyListFields, _ conflict: ItemConflict
    ) throws -> NameTable<PropertyListFields> {
        let keys = NameSet(conflict.changes.map(\.itemKey))
        if !given.isEmpty, given.keys.allSatisfy({ keys.contains($0) }) {
            var items: NameTable<PropertyListFields> = [:]
            for (key, value) in given {
                guard let fields = value.fields else {
                    throw LuaMismatch("a table of fields under each itemKey expected", argument: "values")
                }
                items[key] = fields
            }
            return items
        }
        guard keys.count == 1, let key = keys.first else {
            throw LuaMismatch(
                "the commit changed \(keys.count) items: give a table of fields under each itemKey",
                argument: "values")
        }
        return [key: given]
    }

    private static func reading(_ cls: LuaClass<ConflictValue>, _ classes: ItemClasses) {
        let values = classes.host.values
        cls.text("host", doc: "The name of the other host.", get: { $0.conflict.host })
        cls.property(
            "date", .object("date"), doc: "The time of the commit.",
            get: { try values.readOnly(.date($0.conflict.date)) })
        cls.property(
            "item", doc: "The item, or nil if it no longer exists.",
            get: { [unowned classes] in classes.host.items.item(forKey: $0.first?.itemKey ?? "") })
        cls.text("itemKey", doc: "The item's key.", get: { $0.first?.itemKey ?? "" })
        cls.text("name", doc: "The item's name after the commit.", get: { $0.first?.name ?? "" })
        cls.property(
            "field", doc: "The field; nil for an inserted, removed or moved item.", get: { $0.first?.shownField })
        cls.property("mine", doc: "The value set by the commit.", get: { try values.readOnly($0.first?.mine) })
        cls.property("theirs", doc: "The current value.", get: { try values.readOnly($0.first?.theirs) })
        cls.property("base", doc: "The value before both changes.", get: { try values.readOnly($0.first?.base) })
        cls.property(
            "problem",
            doc:
                "Why the commit's value does not fit what is declared, or why the server refused it; nil if neither is so.",
            get: { $0.first?.problem })
        cls.property(
            "changes", .array(.record("conflict.change", change)),
            doc: "All changes of the commit, conflicting ones first; the conflict's properties are those of the first.",
            get: { value in
                try value.conflict.changes.map { change in
                    values.state.makeTable([
                        "kind": change.kind.rawValue, "itemKey": change.itemKey, "name": change.name,
                        "field": change.shownField, "mine": try values.readOnly(change.mine),
                        "theirs": try values.readOnly(change.theirs), "base": try values.readOnly(change.base),
                        "conflicts": change.isConflicting, "problem": change.problem,
                    ])
                }
            })
    }
}

/// Delivers the store's changes to handlers of scripts, which may refuse or rewrite them; also delivers commits.
final class ItemEvents: ItemStoreObserver {
    private let hooks: HookCenter
    private let values: ValueBridge
    private let itemClass: LuaClass<Item>
    private var observesChanges = false
    private var observesCommits = false

    init(_ host: ScriptHost, _ itemClass: LuaClass<Item>) {
        (hooks, values, self.itemClass) = (host.hooks, host.values, itemClass)
    }

    /// Starts observing the store for an event: without handlers it is not observed.
    func observe(_ store: ItemStore, for event: String) {
        if event == Self.commitEvent {
            if !observesCommits { store.addCommitObserver(self) }
            observesCommits = true
        } else {
            if !observesChanges { store.addObserver(self) }
            observesChanges = true
        }
    }

    /// Stops observing the store.
    func end(_ store: ItemStore) {
        store.removeObserver(self)
        store.removeCommitObserver(self)
    }

    private static let commitEvent = "didCommit"

    private func value(_ item: Item) -> LuaValue { itemClass.value(item) }

    /// Delivers a `will…` event; a handler's failure or veto is thrown, which refuses the change.
    @discardableResult
    private func ask(_ name: String, _ details: @autoclosure () -> [String: LuaValue]) throws -> ScriptEvent? {
        guard hooks.hasHooks(for: name) else { return nil }
        let event = ScriptEvent(
            LifeCycleEvent(name: name, cause: .script, simulated: false), details: details(), allowsVeto: true)
        if let error = hooks.deliver(event, stopsAtFailure: true) { throw error }
        if let reason = event.veto { throw ScriptError("vetoed", reason) }
        return event
    }

    private func deliver(_ name: String, _ details: @autoclosure () -> [String: LuaValue]) {
        guard hooks.hasHooks(for: name) else { return }
        hooks.deliver(
            ScriptEvent(LifeCycleEvent(name: name, cause: .script, simulated: false), details: details()))
    }

    func itemStore(_ store: ItemStore, willInsert item: Item) throws {
        try ask("willInsert", ["item": value(item)])
    }

    func itemStore(_ store: ItemStore, didInsert item: Item) {
        deliver("didInsert", ["item": value(item)])
    }

    func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws {
        let event = try ask(
            "willUpdate",
            ["item": value(item), "field": .text(field), "old": lua(old, field, store), "new": lua(new, field, store)])
        guard let event else { return }
        let rewritten = event.details["new"] ?? .nil
        new = rewritten.isNil ? nil : try values.propertyList(rewritten, path: field)
    }

    func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?
    ) {
        deliver(
            "didUpdate",
            ["item": value(item), "field": .text(field), "old": lua(old, field, store), "new": lua(new, field, store)])
    }

    func itemStore(_ store: ItemStore, willRemove item: Item) throws {
        try ask("willRemove", ["item": value(item)])
    }

    func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {
        func title() -> String {
            if case .string(let text)? = store.titleName.flatMap({ fields.values[$0] }) { text } else { "" }
        }
        deliver(
            "didRemove",
            ["item": value(item), "itemKey": fields.itemKey.map(LuaValue.text) ?? .nil, "name": .text(title())])
    }

    func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) {
        deliver(
            "didChangeMany",
            [
                "inserted": .integer(Int64(changes.inserted)), "updated": .integer(Int64(changes.updated)),
                "removed": .integer(Int64(changes.removed)), "moved": .integer(Int64(changes.moved)),
            ])
    }

    private func lua(_ value: PropertyListValue?, _ field: String, _ store: ItemStore) -> LuaValue {
        // A value too large for Lua's memory is omitted: the item still has it.
        (try? values.readOnly(value, isDay: store.hasDays(field))) ?? .nil
    }
}

extension ItemEvents: ItemCommitObserver {
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard hooks.hasHooks(for: Self.commitEvent) else { return }
        let days = NameSet(store.declarations.all.filter { $0.format == .day }.map(\.name))
        let changes = { [values] in ItemChangesBinding.array(of: commit, values) { days.contains($0) } }
        let event = ScriptEvent(
            LifeCycleEvent(name: Self.commitEvent, cause: .script, simulated: false),
            details: ["host": commit.host.map(LuaValue.text) ?? .nil], onDemand: ["changes": changes], commit: commit)
        hooks.deliver(event, until: hooks.handlersDeadline)
    }
}
