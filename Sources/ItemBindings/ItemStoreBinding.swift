import Application
import Items
import Lua
import PropertyList
package import Scripting

/// `items`: creating, finding, ordering, saving.
enum ItemStoreBinding {
    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        reading(cls, classes)
        changing(cls, classes)
        keeping(cls, classes)
        indexing(cls, classes)
        ItemImportBinding.declare(on: cls, classes)
        ItemExportBinding.declare(on: cls, classes)
        FieldsBinding.declare(on: cls, classes)
        cls.method(
            "on", HookBinding.arguments(for: .items),
            doc:
                "Registers a handler for changes of items; a will… handler can refuse a change with event:veto(reason).",
            example:
                "items:on(\"didInsert\", function(event) print(event.item) end) items:createItem{ name = \"Lamp\" }"
        ) {
            [unowned host, events = classes.events]
            (store, event: String, options: HookBinding.OptionsOrHandler, handler: LuaFunction?) in
            let hook = try host.handlers.register(event, options, handler, of: .items)
            events.observe(store, for: event)
            return hook
        }
    }

    /// The fields that items have by themselves.
    private static func fields(_ schema: ItemSchema) -> LuaFields {
        let household = [
            LuaParameter("name", .optional(.text), "what it is"),
            LuaParameter("serialNumber", .optional(.text), "its serial number"),
            LuaParameter("valueInDollars", .optional(.integer), "what it is worth, in whole dollars"),
            LuaParameter("dateCreated", .optional(.object("date")), "when it was recorded; now if not given"),
        ]
        let key = LuaParameter("itemKey", .optional(.text), "its key, one that is unused; a new one if not given")
        return LuaFields((schema.isHousehold ? household : []) + [key])
    }

    /// Options of a transaction of a shared collection.
    private struct TransactionOptions: LuaOptions {
        var retries = ItemStore.defaultRetries
        var isolation = ItemStore.Isolation.serializable

        static var luaOptions: [LuaOption<TransactionOptions>] {
            LuaOption("retries", \.retries, doc: "the maximum number of retries (default: 10)")
            LuaOption(
                "isolation", \.isolation,
                doc: "`serializable` (default), or `snapshot`, where only changes of the same fields conflict")
        }
    }

    private static let diff: LuaFields = {
        let brief = [
            LuaParameter("itemKey", .optional(.text), "the item's key"), LuaParameter("name", .text, "the item's name"),
        ]
        let update = [
            LuaParameter("field", .text, "the field's name"), LuaParameter("old", .any, "its value before"),
            LuaParameter("new", .any, "its value after"),
        ]
        let move = [
            LuaParameter("from", .integer, "its position before"), LuaParameter("to", .integer, "its position after"),
        ]
        return [
            LuaParameter("inserted", .array(.record("diff.item", LuaFields(brief))), "items that would be inserted"),
            LuaParameter("removed", .array(.record("diff.item", LuaFields(brief))), "items that would be removed"),
            LuaParameter(
                "updated", .array(.record("diff.update", LuaFields(brief + update))), "fields that would change"),
            LuaParameter(
                "moved", .array(.record("diff.move", LuaFields(brief + move))), "items that would be moved"),
            LuaParameter("declared", .array(.text), "fields of which something else would be declared"),
        ]
    }()

    private static func reading(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let item = classes.item
        cls.metamethod("__len") { store, call in call.returns(store.count) }
        cls.metamethod("__tostring") { store, call in call.returns("items (\(store.count))") }
        // Not a typed method, nor is any array of items: with a String and an Item each it takes 2.7 times as long.
        cls.method(
            "item", [LuaParameter("itemKey", .text, "the item's key")], returns: [.optional(.object("Item"))],
            doc: "The item with a key, or nil.",
            example: "local item = items:randomItem() return items:item(item.itemKey) == item"
        ) { store, call in
            let key = try call.borrowedBytes(0).bindMemory(to: UInt8.self)
            return call.returns(row: store.reference(forKeyUTF8: key)?.bits, item)
        }
        cls.property("allItems", .array(.object("Item")), doc: "All items in order, as a new array.") {
            store, call in
            try call.returns(items: store.allReferences, item)
        }
        cls.method(
            "each", returns: [.callback("() → integer, Item")],
            doc: "An iterator over positions and items, for `for`; changing the store during the loop is safe.",
            example: "for position, item in items:each() do print(position, item.name) end"
        ) { store, call in
            let cursor = store.each()
            var position: Int64 = 0
            return call.returns(ownedFunction: { call in
                guard let next = cursor.nextReference() else { return call.returns(LuaValue.nil) }
                position += 1
                return call.returns(position) + call.returns(row: next.bits, item)
            })
        }
    }

    private static func changing(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let item = classes.item
        let binding = classes.itemBinding
        let steps: LuaArguments = ["count": "a number from 0: at most as many steps"]
        cls.method(
            "createItem",
            [
                LuaParameter(
                    "fields", .optional(.record("fields", fields(classes.host.items.schema))),
                    "values by field name; custom ones, too")
            ],
            returns: [.object("Item")],
            doc: "A new item at the end of the store: empty, or with the fields given.",
            example: "return items:createItem{ name = \"Lamp\", room = \"Study\" }.room"
        ) { store, call in
            call.returns(row: try binding.create(in: store, from: call).bits, item)
        }
        if classes.host.items.schema.isHousehold {
            cls.method(
                "randomItem", doc: "A new item with a random name: an adjective and a noun.",
                example: "return items:randomItem().name"
            ) { try $0.randomItem() }
        }
        cls.method(
            "removeItem", ["item": "the item", "others": "further items; all are removed, or none"],
            doc: "Removes an item, or several, and their images.",
            example:
                "items:removeItem(items:randomItem()) items:removeItem(items:randomItem(), items:randomItem()) return #items"
        ) { (store, item: Item, rest: LuaVariadic<Item>) in
            if rest.values.isEmpty { return try store.removeItem(item) }
            try store.removeItems([item] + rest.values)
        }
        cls.method(
            "moveItem", ["from": "the current position", "to": "the new position"],
            doc: "Moves an item from one position to another, both from 1.",
            example: "for _ = 1, 3 do items:randomItem() end items:moveItem(3, 1)"
        ) { (store, from: Int, to: Int) in
            for (name, position) in [("from", from), ("to", to)] where position < 1 || position > store.count {
                throw LuaMismatch("a position from 1 to \(store.count) expected, got \(position)", argument: name)
            }
            try store.moveItem(from: from - 1, to: to - 1)
        }
        cls.method(
            "transaction",
            [
                "body": .callback("() → any", "a function that changes items"),
                "options": "for a shared collection",
            ],
            doc:
                "Runs a function as a transaction: an error rolls back all its changes and is raised again. On a shared collection it is serializable, and retried if another host changed data that it read.",
            example: "items:transaction(function() for _ = 1, 10 do items:randomItem() end end) return #items"
        ) { (store, body: LuaFunction, options: TransactionOptions) in
            guard (0...1000).contains(options.retries) else {
                throw LuaMismatch(
                    "option 'retries': 0 to 1000 expected, got \(options.retries)", argument: "options")
            }
            try classes.host.lifeCycle.saver.commitBeforeTransaction()
            return LuaVariadic(
                try classes.host.scheduler.inTransaction {
                    try store.transaction(isolation: options.isolation, retries: options.retries) {
                        try keepingIndexes(of: store, classes.host, always: false) { try body.call() }
                    }
                })
        }
        cls.method(
            "undo", steps,
            doc:
                "Undoes the last commit or transaction; false if there is none. With a number, the last ones; returns how many.",
            example: "items:transaction(function() items:randomItem() end) return items:undo(), #items, items:undo(2)"
        ) { (store, count: Int64?) in
            guard let count else { return LuaEither<Bool, Int>.first(try store.undo()) }
            return .second(try store.undo(QueryBinding.size(count)))
        }
        cls.method(
            "redo", steps,
            doc:
                "Redoes the last undone commit; false if there is none. With a number, the last ones; returns how many.",
            example:
                "items:transaction(function() items:randomItem() end) items:undo() return items:redo(), #items, items:redo(2)"
        ) { (store, count: Int64?) in
            guard let count else { return LuaEither<Bool, Int>.first(try store.redo()) }
            return .second(try store.redo(QueryBinding.size(count)))
        }
        cls.method(
            "dryRun", ["body": .callback("()", "a function that changes items")], returns: [.record("diff", diff)],
            doc: "The changes that a function would make, as counts and entries; nothing is changed.",
            example: "local diff = items:dryRun(function() items:randomItem() end) return #diff.inserted, #items"
        ) { (store, body: LuaFunction) in
            try classes.host.lifeCycle.saver.commitBeforeTransaction()
            let changes = try classes.host.scheduler.inTransaction {
                try store.dryRun { try keepingIndexes(of: store, classes.host, always: true) { _ = try body.call() } }
            }
            return try classes.table(of: changes)
        }
    }

    /// Runs code that is rolled back, always or if it fails, and then has the indexes as they were.
    private static func keepingIndexes<Value>(
        of store: ItemStore, _ host: ScriptHost, always: Bool, _ body: () throws -> Value
    ) throws -> Value {
        let former = store.indexedFields
        let result = Result { try body() }
        if case .success(let value) = result, !always { return value }
        let now = store.indexedFields
        if now != former {
            for name in now where !former.contains(name) { store.dropIndex(name) }
            for name in former where !now.contains(name) { try store.createIndex(name, lazily: true) }
            try host.stores.rememberIndexes()
        }
        return try result.get()
    }

    private static func indexing(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        /// Changes the set of indexes, and undoes the change when the container can't store it.
        func change(
            _ host: ScriptHost, _ change: () throws -> Bool, _ back: () throws -> Void
        ) throws -> OrError<Bool> {
            guard try change() else { return .success(false) }
            do throws(DefaultsError) { try host.stores.rememberIndexes() } catch {
                try back()
                return .failure(error)
            }
            return .success(true)
        }
        cls.method(
            "createIndex", ["field": "the name of a built-in or custom field"],
            doc:
                "Creates an ordered index on a field, used by queries automatically; false if it exists. The container stores its definition.",
            example: "items:createIndex(\"valueInDollars\") print(items:query(\"valueInDollars > 500\"):explain())"
        ) { [unowned host] (store, name: String) in
            try change(host) {
                try store.createIndex(name)
            } _: {
                store.dropIndex(name)
            }
        }
        cls.method(
            "dropIndex", ["field": "the name of a built-in or custom field"],
            doc: "Removes the ordered index on a field; false if there is none.",
            example: "items:createIndex(\"name\") return items:dropIndex(\"name\")"
        ) { [unowned host] (store, name: String) in
            try change(host) {
                store.dropIndex(name)
            } _: {
                try store.createIndex(name, lazily: true)
            }
        }
        cls.property("indexes", doc: "The fields with an ordered index.", get: { $0.indexedFields })
    }

    private static func keeping(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        cls.method(
            "saveChanges", returns: LuaType.orError(.boolean),
            doc: "Saves every item to Documents/items.archive; true, or nil and an error.",
            example: "items:randomItem() return assert(items:saveChanges())"
        ) { [unowned host] store, call in
            guard !store.isInTransaction else {
                throw LuaError(
                    .argument, "saveChanges is not possible inside a transaction: its changes are not committed yet")
            }
            var outcome: ((any Error)?)?
            var resume: (([LuaValue]) -> Void)?
            func values(_ error: (any Error)?) -> [LuaValue] {
                error.map(host.state.failure) ?? [true]
            }
            host.lifeCycle.saver.save(.script, canBeVetoed: true) { error in
                outcome = .some(error)
                resume?(values(error))
            }
            if let outcome { return try call.returns(values: values(outcome)) }
            host.output.flush()
            return try host.scheduler.waitForValues(call) {
                resume = $0
                return { resume = nil }
            }
        }
        cls.method(
            "synchronize",
            doc:
                "Commits, and waits until the journal is on the disk, so that all changes survive a power failure; far faster than saving. Returns true, or nil and an error.",
            example: "items:randomItem() return assert(items:synchronize())"
        ) { [unowned host] store -> OrError<Bool> in
            guard !store.isInTransaction else {
                throw LuaError(
                    .argument, "synchronize is not possible inside a transaction: its changes are not committed yet")
            }
            if case .failure(let error) = host.commit() { return .failure(error) }
            do { try store.synchronize() } catch { return .failure(error) }
            return .success(true)
        }
        cls.property(
            "isReadOnly",
            doc:
                "Whether items cannot be changed: the container was opened read-only, or the shared collection's server is unreachable.",
            get: { $0.isReadOnly })
        cls.property(
            "isConnected",
            doc: "Whether the shared collection's server answered the last request; true for a container's own items.",
            get: { $0.isConnected })
        cls.method(
            "conflicts",
            doc:
                "The commits made while the shared collection's server was unreachable, in conflict with earlier commits of other hosts: an array, oldest first.",
            example: "for _, conflict in ipairs(items:conflicts()) do print(conflict) end return #items:conflicts()"
        ) { $0.conflicts.map { ConflictValue($0) } }
        cls.property("hasChanges", doc: "Whether there are changes since the last save.", get: { $0.hasChanges })
        cls.property("archivePath", doc: "The path of the items' archive.", get: { $0.archivePath })
    }
}

extension ItemClasses {
    /// The result of a dry run as a table that prints as its summary.
    func table(of diff: ItemStoreDiff) throws -> LuaTable {
        let (state, values) = (host.state, host.values)
        func brief(_ fields: ItemFields) throws -> LuaTable {
            let name = fields.values[host.items.titleName ?? ""].flatMap { $0 == .null ? nil : $0 }
            return state.makeTable(["itemKey": fields.itemKey, "name": try values.readOnly(name)])
        }
        let table = state.makeTable([
            "inserted": try diff.inserted.map(brief), "removed": try diff.removed.map(brief),
            "updated": try diff.updated.map {
                state.makeTable([
                    "itemKey": $0.itemKey, "name": $0.name, "field": $0.field,
                    "old": try values.readOnly($0.old, isDay: host.items.hasDays($0.field)),
                    "new": try values.readOnly($0.new, isDay: host.items.hasDays($0.field)),
                ])
            },
            "moved": diff.moved.map {
                state.makeTable(["itemKey": $0.itemKey, "name": $0.name, "from": $0.from + 1, "to": $0.to + 1])
            },
            "declared": diff.declared,
        ])
        describe(table, as: "diff", diff.description)
        return table
    }

    /// Sets a text as the result of a table's `__tostring`.
    func describe(_ table: LuaTable, as name: String, _ text: String) {
        let declaration = LuaFunctionDeclaration("tostring", [LuaParameter("…", .variadic(.any))])
        let function = host.state.makeFunction(declaration) { call in call.returns(text) }
        table.setMetatable(host.state.makeTable(["__tostring": function, "__name": name]))
    }
}

/// `items`, items, queries and predicates.
package enum ItemModule: ScriptModule {
    package static let name = "items"

    package static func declare(in host: ScriptHost) -> [Global] {
        let classes = ItemClasses(host)
        // The store may outlive the host.
        host.atEnd { [store = host.items] in classes.events.end(store) }
        return [("items", classes.items.value(host.items)), PredicateModule.install(classes).global]
    }
}

/// The classes of `items`, items and queries, which refer to each other.
final class ItemClasses {
    unowned let host: ScriptHost
    let items: LuaClass<ItemStore>
    let item: LuaClass<Item>
    let query: LuaClass<ItemQuery>
    let predicate: LuaClass<PredicateValue>
    let itemBinding: ItemBinding
    let events: ItemEvents
    /// The result of `groupBy`.
    private(set) lazy var groups = GroupsBinding(self)
    /// The elements of `items:conflicts()`.
    private(set) lazy var conflict = ConflictBinding.makeClass(self)

    init(_ host: ScriptHost) {
        self.host = host
        let state = host.state
        itemBinding = ItemBinding(host)
        item = itemBinding.makeClass()
        events = ItemEvents(host, item)
        predicate = PredicateModule.makeClass(in: state)
        let item = item
        items = LuaClass<ItemStore>(
            "items", doc: "The item store: an ordered list of items, stored in the container.", in: state,
            unknownKey: { store, call in
                guard let position = call.value(0).integerValue else { return call.returns(LuaValue.nil) }
                let found = position > 0 ? store.reference(at: Int(clamping: position - 1)) : nil
                return call.returns(row: found?.bits, item)
            })
        items.declareOperator(
            "index", .integer, returns: .optional(.object("Item")), doc: "The item at a position, from 1.")
        items.declareOperator("len", returns: .integer, doc: "The number of items.")
        items.declareGlobalObject()
        item.declareOperator("index", .text, returns: .any, doc: "A custom field's value; assigning nil removes it.")
        query = QueryBinding.makeClass(in: state)
        PlotBinding.declareClass(in: host)
        itemBinding.finish(item)
        QueryBinding.declare(on: query, self)
        ItemStoreBinding.declare(on: items, self)
        _ = groups
        _ = conflict
    }
}
