import Glibc
import Items
import Logging
import Lua
import PropertyList
import Scripting

/// An item in Lua: the household's fields are properties, if the store's items have them, any other name is a custom
/// field.
final class ItemBinding {
    private unowned let host: ScriptHost
    /// Whether the items have the household's fields.
    private let isHousehold: Bool
    private var warned: NameSet = []
    private let record: LuaRecord
    private var checkedFields = FieldNameCache()
    /// The class of the items; nil until it is made.
    private var items: LuaClass<Item>?

    init(_ host: ScriptHost) {
        self.host = host
        isHousehold = host.items.schema.isHousehold
        record = LuaRecord(["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"], in: host.state)
        record.allow(host.values.dates, at: 3)
    }

    func makeClass() -> LuaClass<Item> {
        let values = host.values
        let store = host.items
        let cls = LuaClass<Item>(
            rows: Item.luaName,
            doc: "An item of the store. Any name other than a property or method is a custom field.",
            in: host.state, number: { $0.store.reference(to: $0).bits },
            object: { [unowned store] in store.item(ItemReference(bits: $0)) },
            unknownMember: { item, name, call in
                switch try item.store.related(item, name) {
                case .one(let other)?: return call.returns(other)
                case .many(let items)?: return call.returns(array: items)
                case nil: break
                }
                guard let value = try item.value(forField: name) else { return call.returns(LuaValue.nil) }
                return call.returns(try values.readOnly(value, isDay: item.store.hasDays(name)))
            },
            assignUnknown: { [unowned self] item, call in
                guard let name = call.value(0).textValue else {
                    throw LuaError(.argument, "Item: a field's name is text, got \(call.value(0).typeName.withArticle)")
                }
                try checkName(name)
                try item.setValue(try value(call.value(1), field: name), forField: name)
            })
        // The closure retains the store, which retains the epoch's word.
        cls.declareExistence(epoch: store.epoch) { [store] in store.isRemoved(ItemReference(bits: $0)) }
        items = cls
        if isHousehold { declareHousehold(on: cls) }
        text(
            cls, "itemKey", .text, "Its key, a UUID; also the key of its image.", store.schema.keyField,
            isReadOnly: true)
        return cls
    }

    /// Declares the fields of a household's items.
    private func declareHousehold(on cls: LuaClass<Item>) {
        let (store, values) = (host.items, host.values)
        // Not by typed properties: with Swift types they take 1.7 to 2.2 times as long.
        text(cls, "name", .text, "Its name.", .name)
        text(cls, "serialNumber", .optional(.text), "Its serial number, or nil.", .serialNumber)
        cls.field(
            "valueInDollars", .integer,
            doc: "Its value in whole dollars; of another kind, or nil, if an application's archive has it so.",
            set: { [store] item, call in
                try store.setInteger(try call.integer(0), for: .valueInDollars, of: ItemReference(bits: item))
            }
        ) { [store] item, call in
            if let value = try store.integer(of: .valueInDollars, ItemReference(bits: item)) {
                return call.returns(value)
            }
            return try Self.carried(store, .valueInDollars, item, values, call)
        }
        cls.field(
            "dateCreated", .object("date"), doc: "Its creation date; nil if an application's archive has none.",
            set: { [store] item, call in
                let date = PropertyListValue.date(try call.object(0, values.dates).date)
                try store.setValue(date, for: .dateCreated, of: ItemReference(bits: item))
            }
        ) { [store] item, call in
            guard let date = try store.date(of: .dateCreated, ItemReference(bits: item)) else {
                return try Self.carried(store, .dateCreated, item, values, call)
            }
            let isDay = store.hasDays("dateCreated")
            return call.returns(isDay ? DateValue(day: date) : DateValue(date), values.dates)
        }
    }

    /// A text field; converts between Lua's bytes and the store's.
    private func text(
        _ cls: LuaClass<Item>, _ name: String, _ type: LuaType, _ documentation: String, _ field: ItemField,
        isReadOnly: Bool = false
    ) {
        let (store, values) = (host.items, host.values)
        let set: (UInt64, LuaCall) throws -> Void = { [store] item, call in
            let item = ItemReference(bits: item)
            if call.isNil(0) { return try store.setValue(nil, for: field, of: item) }
            try store.setUTF8(try call.borrowedBytes(0).bindMemory(to: UInt8.self), for: field, of: item)
        }
        cls.field(name, type, doc: documentation, set: isReadOnly ? nil : set) { [store] item, call in
            var results = call.returnsNothing()
            var isText = true
            try store.withUTF8(of: field, ItemReference(bits: item)) { text in
                if let text { results = call.returns(bytes: UnsafeRawBufferPointer(text)) } else { isText = false }
            }
            return isText ? results : try Self.carried(store, field, item, values, call)
        }
    }

    /// Returns a field's value that is not of the field's kind, as an application's archive has it, or nil.
    private static func carried(
        _ store: ItemStore, _ field: ItemField, _ item: UInt64, _ values: ValueBridge, _ call: LuaCall
    ) throws -> LuaResults {
        let value = try store.value(of: field, ItemReference(bits: item))
        return call.returns(try values.readOnly(value))
    }

    /// Declares the members that require the class itself.
    func finish(_ cls: LuaClass<Item>) {
        cls.method(
            "copy", doc: "A deep copy with a new key and the same images, at the end of the store.",
            example: "return items:createItem{ name = \"Lamp\" }:copy().name"
        ) { try $0.copy() }
        cls.method(
            "fields", doc: "The names of its custom fields, sorted.",
            example: "return items:createItem{ room = \"Study\" }:fields()[1]"
        ) { try $0.customFieldNames }
        cls.method(
            "increment",
            [
                LuaParameter("field", .text, "the field's name"),
                LuaParameter("amount", .optional(.number), "what is added, 1 if nil; negative to subtract"),
            ],
            returns: [.number],
            doc:
                "Adds to a field's number, 0 if it has no value, and returns the sum. In a shared collection it conflicts with no other host's change: of two hosts that add 1, both count.",
            example: "local item = items:createItem{ count = 1 } return item:increment(\"count\", 2)"
        ) { [unowned self] item, call in
            let name = try call.text(0)
            try checkName(name)
            let amount = call.isNil(1) ? .integer(1) : try value(call.value(1), field: name) ?? .integer(1)
            let sum = try item.store.increment(name, of: item.store.reference(to: item), by: amount)
            return call.returns(try host.values.readOnly(sum))
        }
        let clock = host.values.clock
        cls.metamethod("__tostring") { item, call in call.returns(item.description(of: clock.text)) }
    }

    /// Refuses a method's name. A name one slip away from a field of the domain is stored, with one warning.
    func checkName(_ name: String) throws {
        if let (problem, advice) = nameProblem(name) { throw LuaError(.argument, "\(problem.reason): \(advice)") }
        warn(aboutName: name)
    }

    /// Why a name cannot be a field's, and what a script does instead; nil for another name.
    func nameProblem(_ name: String) -> (FieldNameProblem, advice: String)? {
        let declaration = host.state.declarations["Item", .class]
        if let method = declaration?.functions.first(where: { $0.name == name }) {
            let reason = "Item.\(method.name) is a method and cannot be a field"
            return (FieldNameProblem(reason, otherName: "\(name)_2"), "choose another name")
        }
        let (what, other): (String, String)
        switch name {
        case "image": (what, other) = ("is the item's picture", "picture")
        case "images": (what, other) = ("are the item's pictures", "pictures")
        default: return nil
        }
        return (FieldNameProblem("Item.\(name) \(what) and cannot be a field", otherName: other), "assign to the item")
    }

    /// Warns once about a name that is one slip away from a field of the domain.
    func warn(aboutName name: String) {
        guard isHousehold, !warned.contains(name), host.items.existingField(named: name) == nil else { return }
        guard
            let near = NearestNames.nearest(
                to: name, among: ["name", "serialNumber", "valueInDollars", "dateCreated"], countsBeginnings: false
            ).first,
            NearestNames.isOneSlip(name, near)
        else { return }
        warned.insert(name)
        host.logger.warning("the new custom field '\(name)' is one slip away from '\(near)': was that meant?")
    }

    /// The value of a custom field, or the id of an item that is given to one that refers to items; nil removes it.
    func value(_ value: LuaValue, field: String) throws -> PropertyListValue? {
        let store = host.items
        guard store.hasReferences, let items else { return try plainValue(value, path: field) }
        if let item = items.object(of: value) { return try store.reference(to: item, inField: field) }
        guard case .table(let table) = value else { return try plainValue(value, path: field) }
        let elements = (0..<table.count).map { table[$0 + 1] }
        guard elements.contains(where: { items.object(of: $0) != nil }) else {
            return try plainValue(value, path: field)
        }
        var entries = 0
        try table.forEach { _, _ in
            entries += 1
            return true
        }
        let ids = try elements.enumerated().map { place, element in
            if let item = items.object(of: element) { return try store.reference(to: item, inField: field) }
            guard let id = try plainValue(element, path: "\(field)[\(place + 1)]") else {
                throw LuaError(.argument, "Item.\(field)[\(place + 1)] is nil: an array has no holes")
            }
            return id
        }
        if entries > ids.count {
            throw LuaError(
                .argument, "Item.\(field) has other keys beside its \(ids.count.counted("element")) in order")
        }
        return .array(ids)
    }

    private func plainValue(_ value: LuaValue, path: String) throws -> PropertyListValue? {
        if value.isNil { return nil }
        do throws(ValueBridge.BridgeError) {
            return try host.values.propertyList(value, path: path)
        } catch {
            throw LuaError(.argument, "Item.\(error.message)")
        }
    }

    /// Creates an item with the fields of a call's table argument.
    func create(in store: ItemStore, from call: LuaCall) throws -> ItemReference {
        guard isHousehold else { return try createFree(in: store, from: call) }
        let draft = try store.beginItem(key: call.bytes(0, of: 4, record)?.bindMemory(to: UInt8.self))
        return try draft.orDiscarded {
            let isFilled = try call.withRecord(0, record) { try Self.fill(draft, $0) }
            if !isFilled { try fill(draft, from: call) }
            return try store.insertReference(draft)
        }
    }

    /// Creates an item without a household's fields.
    private func createFree(in store: ItemStore, from call: LuaCall) throws -> ItemReference {
        let draft = try store.beginItem()
        return try draft.orDiscarded {
            try call.forEachEntry(0) { entry in
                if let field = entry.withKey({ checkedFields.field($0) }) ?? nil { return try set(draft, field, entry) }
                try set(draft, entry)
            }
            return try store.insertReference(draft)
        }
    }

    /// Sets the fields of a table that has only fields of the domain, without iterating over its entries.
    ///
    /// - Returns: false, with nothing set, if a value is not of its field's type.
    private static func fill(_ draft: ItemDraft, _ values: LuaRecordValues) throws -> Bool {
        let (name, serial, key) = (values.bytes(0), values.bytes(1), values.bytes(4))
        let (value, date) = (values.integer(2), values.bits(3))
        guard values.has(0) == (name != nil), values.has(1) == (serial != nil), values.has(2) == (value != nil),
            values.has(3) == (date != nil), values.has(4) == (key != nil)
        else { return false }
        if let name { try draft.setUTF8(name.bindMemory(to: UInt8.self), for: .name) }
        if let serial { try draft.setUTF8(serial.bindMemory(to: UInt8.self), for: .serialNumber) }
        if let value { try draft.set(.integer(value), for: .valueInDollars) }
        if let date { try draft.set(.date(DateValue(luaBits: date).date), for: .dateCreated) }
        if let key { try draft.setUTF8(key.bindMemory(to: UInt8.self), for: .itemKey) }
        return true
    }

    /// Sets a new item's fields, including custom ones and values that a field may refuse.
    private func fill(_ draft: ItemDraft, from call: LuaCall) throws {
        try call.forEachEntry(0) { entry in
            guard let field = entry.withKey({ ItemField(domain: $0.bindMemory(to: UInt8.self)) }) else {
                throw LuaError(.argument, "a field's name is text, got \(host.state.describe(entry.key))")
            }
            switch field {
            case .name?, .serialNumber?, .itemKey?:
                guard let field,
                    try entry.withText({ try draft.setUTF8($0.assumingMemoryBound(to: UInt8.self), for: field) }) != nil
                else { break }
                return
            case .valueInDollars?:
                guard let value = entry.integer else { break }
                return try draft.set(.integer(value), for: .valueInDollars)
            case .dateCreated?:
                guard let date = entry.object(host.values.dates) else { break }
                return try draft.set(.date(date.date), for: .dateCreated)
            default:
                if let field = entry.withKey({ checkedFields.field($0) }) ?? nil {
                    return try set(draft, field, entry)
                }
            }
            try set(draft, entry)
        }
    }

    /// Sets a custom field with a checked name. Non-text, or text that is refused, takes the general path.
    private func set(_ draft: ItemDraft, _ field: ItemField, _ entry: LuaTableEntry) throws {
        let isSet = entry.withText { text in
            (try? draft.setUTF8(text.assumingMemoryBound(to: UInt8.self), for: field)) != nil
        }
        if isSet ?? false { return }
        guard let value = try value(entry.value, field: draft.name(of: field)) else { return }
        try draft.set(value, for: field)
    }

    /// Sets a custom field, or a field of the domain to a value that it may refuse.
    private func set(_ draft: ItemDraft, _ entry: LuaTableEntry) throws {
        guard let name = entry.key.textValue else {
            throw LuaError(.argument, "a field's name is text, got \(host.state.describe(entry.key))")
        }
        let schema = host.items.schema
        if !schema.has(name) { try checkName(name) }
        guard let value = try value(entry.value, field: name) else { return }
        try draft.set(value, forField: name)
        if !schema.has(name), let field = host.items.existingField(named: name) { checkedFields.insert(field, name) }
    }
}

/// A cache of field names that were already checked, by their bytes: the items created by a loop have the same fields.
///
/// Saves a string, its hash and the check for each field of each item: a loop that creates items with ten fields takes
/// 0.66 of the time without the cache.
struct FieldNameCache {
    private struct Entry {
        let name: [UInt8]
        let field: ItemField
    }

    private var entries = [Entry?](repeating: nil, count: 64)

    func field(_ name: UnsafeRawBufferPointer) -> ItemField? {
        guard let entry = entries[place(name)], entry.name.count == name.count else { return nil }
        let isSame = entry.name.withUnsafeBytes { known in
            guard let first = known.baseAddress, let second = name.baseAddress else { return true }
            return memcmp(first, second, known.count) == 0
        }
        return isSame ? entry.field : nil
    }

    mutating func insert(_ field: ItemField, _ name: String) {
        var name = name
        name.withUTF8 { bytes in entries[place(UnsafeRawBufferPointer(bytes))] = Entry(name: Array(bytes), field: field)
        }
    }

    /// Names of equal length rarely have the same first and last bytes.
    private func place(_ name: UnsafeRawBufferPointer) -> Int {
        guard let first = name.first, let last = name.last else { return 0 }
        return (Int(first) &* 31 &+ Int(last) &* 7 &+ Int(name[name.count / 2]) &+ name.count) & (entries.count - 1)
    }
}
