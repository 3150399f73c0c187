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
            "on", HookBinding.parameters(for: .items), returns: [.object("Hook")],
            "Calls a handler before or after items change; a will… handler may refuse with event:veto(reason).",
            example:
                "items:on(\"didInsert\", function(event) print(event.item) end) items:createItem{ name = \"Lamp\" }"
        ) { [unowned host] _, call in
            let results = try hooks.register(call, events: EventDeclaration.names(of: .items), allowsUserEvents: false)
            host.observeItems(for: try call.text(0), as: classes.item)
            return results
        }
    }

    private static let fields = [
        LuaParameter("name", .optional(.text), "what it is"),
        LuaParameter("serialNumber", .optional(.text), "its serial number"),
        LuaParameter("valueInDollars", .optional(.integer), "what it is worth, in whole dollars"),
        LuaParameter("dateCreated", .optional(.object("date")), "when it was recorded; now if not given"),
        LuaParameter("itemKey", .optional(.text), "its key, one that is unused; a new one if not given"),
    ]

    private static let transactionOptions = [
        LuaParameter("retries", .optional(.integer), "how often it may run again; 10 if not given"),
        LuaParameter(
            "isolation", .optional(.choice(ItemStore.Isolation.allCases.map(\.rawValue))),
            "`serializable`, or `snapshot`: then only changes of the same fields stand in its way"),
    ]

    private static func retries(_ call: LuaCall) throws -> Int {
        switch try call.option("retries", of: 1) {
        case .nil: return ItemStore.defaultRetries
        case .integer(let count) where (0...1000).contains(count): return Int(count)
        default: throw call.refuse(1, "retries is a number from 0 to 1000")
        }
    }

    private static func isolation(_ call: LuaCall) throws -> ItemStore.Isolation {
        let given = try call.option("isolation", of: 1)
        if given.isNil { return .serializable }
        guard let isolation = given.textValue.flatMap(ItemStore.Isolation.init(rawValue:)) else {
            throw call.refuse(1, "isolation is \"serializable\" or \"snapshot\"")
        }
        return isolation
    }

    private static let diff: [LuaParameter] = {
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
            LuaParameter("inserted", .array(.record("diff.item", brief)), "items that would be new"),
            LuaParameter("removed", .array(.record("diff.item", brief)), "items that would go"),
            LuaParameter("updated", .array(.record("diff.update", brief + update)), "fields that would change"),
            LuaParameter("moved", .array(.record("diff.move", brief + move)), "items that would have another place"),
        ]
    }()

    private static func reading(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let item = classes.item
        cls.metamethod("__len") { store, call in call.returns(store.count) }
        cls.metamethod("__tostring") { store, call in call.returns("items (\(store.count))") }
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
            "randomItem", returns: [.object("Item")], "A new item of an adjective and a noun.",
            example: "return items:randomItem().name"
        ) { store, call in
            call.returns(try store.randomItem(), item)
        }
        cls.method(
            "removeItem", [LuaParameter("item", .object("Item"), "which item")],
            "Removes an item, with its image.", example: "items:removeItem(items:randomItem()) return #items"
        ) {
            store, call in
            try store.removeItem(try call.object(0, item))
            return call.returnsNothing()
        }
        cls.method(
            "moveItem",
            [LuaParameter("from", .integer, "where it is"), LuaParameter("to", .integer, "where it will be")],
            "Moves an item from one position to another, both from 1.",
            example: "for _ = 1, 3 do items:randomItem() end items:moveItem(3, 1)"
        ) { store, call in
            let count = Int64(store.count)
            let positions = try [call.integer(0), call.integer(1)]
            for (index, position) in positions.enumerated() where !(1...max(count, 1)).contains(position) || count == 0
            {
                throw call.refuse(index, "a position from 1 to \(count) expected, got \(position)")
            }
            try store.moveItem(from: Int(positions[0]) - 1, to: Int(positions[1]) - 1)
            return call.returnsNothing()
        }
        cls.method(
            "transaction",
            [
                LuaParameter("body", .callback("() → any"), "what changes items"),
                LuaParameter(
                    "options", .optional(.record("transaction.options", transactionOptions)),
                    "for a collection that other hosts change, too"),
            ],
            returns: [.variadic(.any)],
            "Runs a function whose changes all happen or none; an error rolls back and is raised again. On a shared collection it is serializable, and runs again when another host changed what it read.",
            example: "items:transaction(function() for _ = 1, 10 do items:randomItem() end end) return #items"
        ) { store, call in
            let body = try call.function(0)
            let results = try store.transaction(isolation: try isolation(call), retries: try retries(call)) {
                try body.call()
            }
            return try call.returns(values: results)
        }
        cls.method(
            "undo", returns: [.boolean], "Takes back the last commit or transaction; false when there is none.",
            example: "items:transaction(function() items:randomItem() end) return items:undo(), #items"
        ) { store, call in
            call.returns(try store.undo())
        }
        cls.method(
            "redo", returns: [.boolean], "Does again what undo took back.",
            example: "items:transaction(function() items:randomItem() end) items:undo() return items:redo(), #items"
        ) { store, call in
            call.returns(try store.redo())
        }
        cls.method(
            "dryRun", [LuaParameter("body", .callback("()"), "what would change items")],
            returns: [.record("diff", diff)],
            "What a function would change: counts and entries; nothing is changed.",
            example: "local diff = items:dryRun(function() items:randomItem() end) return #diff.inserted, #items"
        ) { store, call in
            let body = try call.function(0)
            let diff = try store.dryRun { _ = try body.call() }
            return call.returns(LuaValue.table(try classes.table(of: diff)))
        }
    }

    private static func indexing(_ cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let host = classes.host
        let field = [LuaParameter("field", .text, "a field's name, of the domain or custom")]
        /// Changes the set of indexes, and undoes the change when the container can't store it.
        func change(_ call: LuaCall, _ host: ScriptHost, _ change: () throws -> Bool, _ back: () throws -> Void) throws
            -> LuaResults
        {
            guard try change() else { return call.returns(false) }
            do throws(DefaultsError) { try host.rememberIndexes() } catch {
                try back()
                return call.returns(failure: error)
            }
            return call.returns(true)
        }
        cls.method(
            "createIndex", field, returns: LuaType.orError(.boolean),
            "An ordered index on a field, which queries use by themselves; false when there is one. The container remembers it.",
            example: "items:createIndex(\"valueInDollars\") print(items:query(\"valueInDollars > 500\"):explain())"
        ) { [unowned host] store, call in
            let name = try call.text(0)
            return try change(call, host) {
                try store.createIndex(name)
            } _: {
                store.dropIndex(name)
            }
        }
        cls.method(
            "dropIndex", field, returns: LuaType.orError(.boolean),
            "Removes the ordered index on a field; false when there is none.",
            example: "items:createIndex(\"name\") return items:dropIndex(\"name\")"
        ) { [unowned host] store, call in
            let name = try call.text(0)
            return try change(call, host) {
                store.dropIndex(name)
            } _: {
                try store.createIndex(name, lazily: true)
            }
        }
        cls.property("indexes", .array(.text), "The fields that have an ordered index.") { store, call in
            call.returns(array: store.indexedFields)
        }
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
            "synchronize", returns: LuaType.orError(.boolean),
            "Commits, and waits until every change survives a power cut: the journal is on the disk then, which takes far less than saving. True, or nil and an error.",
            example: "items:randomItem() return assert(items:synchronize())"
        ) { [unowned host] store, call in
            guard !store.isInTransaction else {
                throw LuaError(
                    .argument, "synchronize is not possible inside a transaction: its changes are not committed yet")
            }
            if case .failure(let error) = host.commit() { return call.returns(failure: error.underlying ?? error) }
            do { try store.synchronize() } catch { return call.returns(failure: error) }
            return call.returns(true)
        }
        cls.property(
            "isReadOnly", .boolean,
            "Whether items can be read and not changed: the container was opened so, or the shared collection's server does not answer."
        ) { store, call in call.returns(store.isReadOnly) }
        cls.property(
            "isConnected", .boolean,
            "Whether the shared collection's server answered last; true for a container's own items."
        ) { store, call in call.returns(store.isConnected) }
        cls.method(
            "conflicts", returns: [.array(.object("Conflict"))],
            "Commits that were made while the shared collection's server did not answer, and that other hosts were ahead of: an array, oldest first.",
            example: "for _, conflict in ipairs(items:conflicts()) do print(conflict) end return #items:conflicts()"
        ) { [unowned classes] store, call in
            call.returns(array: store.conflicts.map { classes.conflict.value(ConflictValue($0)) })
        }
        cls.property("hasChanges", .boolean, "Whether something changed since the last save.") { store, call in
            call.returns(store.hasChanges)
        }
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

    /// Has a table print as a text.
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
