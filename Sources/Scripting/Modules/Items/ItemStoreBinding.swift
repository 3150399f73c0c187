import Application
import Items
import Lua
import PropertyList

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
        let hooks = classes.hooks
        cls.method(
            "on", HookBinding.arguments(for: .items),
            "Calls a handler before or after items change; a will… handler may refuse with event:veto(reason).",
            example:
                "items:on(\"didInsert\", function(event) print(event.item) end) items:createItem{ name = \"Lamp\" }"
        ) {
            [unowned host]
            (_, event: String, options: LuaEither<HookBinding.Options, LuaFunction>, handler: LuaFunction?) in
            let hook = try hooks.register(event, options, handler, of: .items)
            host.observeItems(for: event, as: classes.item)
            return hook
        }
    }

    private static let fields: LuaFields = [
        LuaParameter("name", .optional(.text), "what it is"),
        LuaParameter("serialNumber", .optional(.text), "its serial number"),
        LuaParameter("valueInDollars", .optional(.integer), "what it is worth, in whole dollars"),
        LuaParameter("dateCreated", .optional(.object("date")), "when it was recorded; now if not given"),
        LuaParameter("itemKey", .optional(.text), "its key, one that is unused; a new one if not given"),
    ]

    /// Options of a transaction of a shared collection.
    private struct TransactionOptions: LuaOptions {
        var retries = ItemStore.defaultRetries
        var isolation = ItemStore.Isolation.serializable

        static var luaOptions: [LuaOption<TransactionOptions>] {
            LuaOption("retries", \.retries, doc: "how often it may run again; 10 if not given")
            LuaOption(
                "isolation", \.isolation,
                doc: "`serializable`, or `snapshot`: then only changes of the same fields stand in its way")
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
            LuaParameter("inserted", .array(.record("diff.item", LuaFields(brief))), "items that would be new"),
            LuaParameter("removed", .array(.record("diff.item", LuaFields(brief))), "items that would go"),
            LuaParameter(
                "updated", .array(.record("diff.update", LuaFields(brief + update))), "fields that would change"),
            LuaParameter(
                "moved", .array(.record("diff.move", LuaFields(brief + move))), "items that would have another place"),
        ]
    }()

    private static func reading(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let item = classes.item
        cls.metamethod("__len") { store, call in call.returns(store.count) }
        cls.metamethod("__tostring") { store, call in call.returns("items (\(store.count))") }
        // Not a typed method, nor is any array of items: with a String and an Item each it takes 2.7 times as long.
        cls.method(
            "item", [LuaParameter("itemKey", .text, "its key")], returns: [.optional(.object("Item"))],
            "The item with a key, or nil.",
            example: "local item = items:randomItem() return items:item(item.itemKey) == item"
        ) { store, call in
            let key = try call.borrowedBytes(0).bindMemory(to: UInt8.self)
            return call.returns(row: store.reference(forKeyUTF8: key)?.bits, item)
        }
        cls.property("allItems", .array(.object("Item")), "All items in order, as they are now: an array of its own.") {
            store, call in
            try call.returns(items: store.allReferences, item)
        }
        cls.method(
            "each", returns: [.callback("() → integer, Item")],
            "An iterator over positions and items, for `for`; changing the store meanwhile is safe.",
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
        cls.method(
            "createItem",
            [LuaParameter("fields", .optional(.record("fields", fields)), "values by field name; custom ones, too")],
            returns: [.object("Item")],
            "A new item at the end of the store: empty, or with the fields given.",
            example: "return items:createItem{ name = \"Lamp\", room = \"Study\" }.room"
        ) { store, call in
            call.returns(row: try binding.create(in: store, from: call).bits, item)
        }
        cls.method(
            "randomItem", [], "A new item of an adjective and a noun.", example: "return items:randomItem().name"
        ) { try $0.randomItem() }
        cls.method(
            "removeItem", ["item": "which item"], "Removes an item, with its image.",
            example: "items:removeItem(items:randomItem()) return #items"
        ) { (store, item: Item) in try store.removeItem(item) }
        cls.method(
            "moveItem", ["from": "where it is", "to": "where it will be"],
            "Moves an item from one position to another, both from 1.",
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
                "body": .callback("() → any", "what changes items"),
                "options": "for a collection that other hosts change, too",
            ],
            "Runs a function whose changes all happen or none; an error rolls back and is raised again. On a shared collection it is serializable, and runs again when another host changed what it read.",
            example: "items:transaction(function() for _ = 1, 10 do items:randomItem() end end) return #items"
        ) { (store, body: LuaFunction, options: TransactionOptions) in
            guard (0...1000).contains(options.retries) else {
                throw LuaMismatch(
                    "option 'retries': 0 to 1000 expected, got \(options.retries)", argument: "options")
            }
            return LuaVariadic(
                try store.transaction(isolation: options.isolation, retries: options.retries) { try body.call() })
        }
        cls.method(
            "undo", [], "Takes back the last commit or transaction; false when there is none.",
            example: "items:transaction(function() items:randomItem() end) return items:undo(), #items"
        ) { try $0.undo() }
        cls.method(
            "redo", [], "Does again what undo took back.",
            example: "items:transaction(function() items:randomItem() end) items:undo() return items:redo(), #items"
        ) { try $0.redo() }
        cls.method(
            "dryRun", ["body": .callback("()", "what would change items")], returns: [.record("diff", diff)],
            "What a function would change: counts and entries; nothing is changed.",
            example: "local diff = items:dryRun(function() items:randomItem() end) return #diff.inserted, #items"
        ) { (store, body: LuaFunction) in try classes.table(of: store.dryRun { _ = try body.call() }) }
    }

    private static func indexing(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        /// Changes the set of indexes, and undoes the change when the container can't store it.
        func change(
            _ host: ScriptHost, _ change: () throws -> Bool, _ back: () throws -> Void
        ) throws -> OrError<Bool> {
            guard try change() else { return .success(false) }
            do throws(DefaultsError) { try host.rememberIndexes() } catch {
                try back()
                return .failure(error)
            }
            return .success(true)
        }
        cls.method(
            "createIndex", ["field": "a field's name, of the domain or custom"],
            "An ordered index on a field, which queries use by themselves; false when there is one. The container remembers it.",
            example: "items:createIndex(\"valueInDollars\") print(items:query(\"valueInDollars > 500\"):explain())"
        ) { [unowned host] (store, name: String) in
            try change(host) {
                try store.createIndex(name)
            } _: {
                store.dropIndex(name)
            }
        }
        cls.method(
            "dropIndex", ["field": "a field's name, of the domain or custom"],
            "Removes the ordered index on a field; false when there is none.",
            example: "items:createIndex(\"name\") return items:dropIndex(\"name\")"
        ) { [unowned host] (store, name: String) in
            try change(host) {
                store.dropIndex(name)
            } _: {
                try store.createIndex(name, lazily: true)
            }
        }
        cls.property("indexes", "The fields that have an ordered index.", get: { $0.indexedFields })
    }

    private static func keeping(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        cls.method(
            "saveChanges", returns: LuaType.orError(.boolean),
            "Saves every item to Documents/items.archive; true, or nil and an error.",
            example: "items:randomItem() return assert(items:saveChanges())"
        ) { [unowned host] store, call in
            guard !store.isInTransaction else {
                throw LuaError(
                    .argument, "saveChanges is not possible inside a transaction: its changes are not committed yet")
            }
            var outcome: ((any Error)?)?
            var resume: (([LuaValue]) -> Void)?
            func values(_ error: (any Error)?) -> [LuaValue] {
                error.map { [.nil, host.state.errorValue($0)] } ?? [true]
            }
            host.save(.script, canBeRefused: true) { error in
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
            "synchronize", [],
            "Commits, and waits until every change survives a power cut: the journal is on the disk then, which takes far less than saving. True, or nil and an error.",
            example: "items:randomItem() return assert(items:synchronize())"
        ) { [unowned host] store -> OrError<Bool> in
            guard !store.isInTransaction else {
                throw LuaError(
                    .argument, "synchronize is not possible inside a transaction: its changes are not committed yet")
            }
            if case .failure(let error) = host.commit() { return .failure(error.underlying ?? error) }
            do { try store.synchronize() } catch { return .failure(error) }
            return .success(true)
        }
        cls.boolean(
            "isReadOnly",
            "Whether items can be read and not changed: the container was opened so, or the shared collection's server does not answer.",
            get: { $0.isReadOnly })
        cls.boolean(
            "isConnected", "Whether the shared collection's server answered last; true for a container's own items.",
            get: { $0.isConnected })
        cls.method(
            "conflicts", [],
            "Commits that were made while the shared collection's server did not answer, and that other hosts were ahead of: an array, oldest first.",
            example: "for _, conflict in ipairs(items:conflicts()) do print(conflict) end return #items:conflicts()"
        ) { $0.conflicts.map { ConflictValue($0) } }
        cls.boolean("hasChanges", "Whether something changed since the last save.", get: { $0.hasChanges })
        cls.optionalText("archivePath", "Where the items are saved.", get: { $0.archivePath })
    }
}

extension ItemClasses {
    /// The result of a dry run as a table that prints as its summary.
    func table(of diff: ItemStoreDiff) throws -> LuaTable {
        let state = host.state
        let table = state.makeTable(fields: 4)
        func list(_ name: String, _ values: [LuaValue]) {
            table[name] = values.luaValue(in: state)
        }
        func entry(_ pairs: [(String, LuaValue)]) -> LuaValue {
            let entry = state.makeTable(fields: pairs.count)
            for (name, value) in pairs { entry[name] = value }
            return .table(entry)
        }
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try host.values.lua($0, readOnly: true) } ?? .nil
        }
        func brief(_ fields: ItemFields) -> LuaValue {
            entry([("itemKey", fields.itemKey.map(LuaValue.text) ?? .nil), ("name", .text(fields.name))])
        }
        list("inserted", diff.inserted.map(brief))
        list("removed", diff.removed.map(brief))
        list(
            "updated",
            try diff.updated.map {
                try entry([
                    ("itemKey", .text($0.itemKey)), ("name", .text($0.name)), ("field", .text($0.field)),
                    ("old", lua($0.old)), ("new", lua($0.new)),
                ])
            })
        list(
            "moved",
            diff.moved.map {
                entry([
                    ("itemKey", .text($0.itemKey)), ("name", .text($0.name)), ("from", .integer(Int64($0.from + 1))),
                    ("to", .integer(Int64($0.to + 1))),
                ])
            })
        describe(table, as: "diff", diff.description)
        return table
    }

    /// Sets a text as the result of a table's `__tostring`.
    func describe(_ table: LuaTable, as name: String, _ text: String) {
        let state = host.state
        let metatable = state.makeTable(fields: 2)
        metatable["__tostring"] = .function(
            state.makeFunction(LuaFunctionDeclaration("tostring", [LuaParameter("…", .variadic(.any))])) { call in
                call.returns(text)
            })
        metatable["__name"] = .text(name)
        table.setMetatable(metatable)
    }
}
