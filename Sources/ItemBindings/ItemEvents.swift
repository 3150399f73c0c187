import Application
import Items
import Lua
import PropertyList
import Scripting

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
    private func ask(_ name: String, _ details: [String: LuaValue]) throws -> ScriptEvent? {
        guard hooks.hasHooks(for: name) else { return nil }
        let event = ScriptEvent(
            LifeCycleEvent(name: name, cause: .script, simulated: false), details: details, allowsVeto: true)
        if let error = hooks.deliver(event, stopsAtFailure: true) { throw error }
        if let reason = event.veto { throw ScriptError("vetoed", reason) }
        return event
    }

    private func deliver(_ name: String, _ details: [String: LuaValue]) {
        guard hooks.hasHooks(for: name) else { return }
        hooks.deliver(
            ScriptEvent(LifeCycleEvent(name: name, cause: .script, simulated: false), details: details))
    }

    func itemStore(_ store: ItemStore, willInsert item: Item) throws {
        guard hooks.hasHooks(for: "willInsert") else { return }
        _ = try ask("willInsert", ["item": value(item)])
    }

    func itemStore(_ store: ItemStore, didInsert item: Item) {
        guard hooks.hasHooks(for: "didInsert") else { return }
        deliver("didInsert", ["item": value(item)])
    }

    func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws {
        guard hooks.hasHooks(for: "willUpdate") else { return }
        let given = lua(new, field, store)
        guard
            let event = try ask(
                "willUpdate", ["item": value(item), "field": .text(field), "old": lua(old, field, store), "new": given])
        else { return }
        let rewritten = event.details["new"] ?? .nil
        new = rewritten.isNil ? nil : try values.propertyList(rewritten, path: field)
    }

    func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?
    ) {
        guard hooks.hasHooks(for: "didUpdate") else { return }
        deliver(
            "didUpdate",
            [
                "item": value(item), "field": .text(field), "old": lua(old, field, store),
                "new": lua(new, field, store),
            ])
    }

    func itemStore(_ store: ItemStore, willRemove item: Item) throws {
        guard hooks.hasHooks(for: "willRemove") else { return }
        _ = try ask("willRemove", ["item": value(item)])
    }

    func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {
        guard hooks.hasHooks(for: "didRemove") else { return }
        var title = ""
        if case .string(let text)? = store.titleName.flatMap({ fields.values[$0] }) { title = text }
        deliver(
            "didRemove",
            [
                "item": value(item), "itemKey": fields.itemKey.map(LuaValue.text) ?? .nil,
                "name": .text(title),
            ])
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
