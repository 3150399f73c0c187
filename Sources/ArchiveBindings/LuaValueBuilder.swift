import KeyedArchive
import Lua
import PropertyList
import Scripting

/// Converts objects of an archive to Lua values: each object with identity becomes one table, shared by all references.
final class LuaValueBuilder {
    private let bridge: ArchiveBridge
    /// Whether objects are complete when requested; otherwise `completeShort` fills incomplete ones later.
    var isComplete = true

    /// A table, what it shows, and the filled part of that.
    private struct Filling {
        enum Contents {
            case value(ArchiveValue)
            /// A container within a field.
            case inPlace(ArchivedObject.FieldValue)
        }

        var contents: Contents
        var table: LuaTable
        var done = 0
    }

    private var tables: [ObjectIdentifier: LuaTable] = [:]
    private var unfilled: [Filling] = []
    private var short: [Filling] = []
    /// The sources of the tables, retained so that their addresses are not reused.
    private var sources: [ArchiveValue] = []
    private var foreignMetatables: [ArchivedClass: LuaTable] = [:]

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The Lua value with all its references.
    ///
    /// - Throws: `memory` if the tables exceed the scripts' limit, `runtime` for an inline value that expands too far.
    func lua(_ value: ArchiveValue?) throws(LuaError) -> LuaValue {
        let result = make(value)
        fillAll()
        if let failure { throw failure }
        return result
    }

    /// The reason why objects are incomplete.
    private var failure: LuaError?
    private var pace = InterruptionPace()

    /// Whether table creation must stop: there is no memory, or the script is being stopped.
    private func isExhausted() -> Bool {
        guard failure == nil else { return true }
        if pace.isDue() { failure = LuaError(.runtime, Interruption.message) }
        do throws(LuaError) { try bridge.state.checkCapacity(for: 0) } catch { failure = error }
        return failure != nil
    }

    /// A table of the fields, without a class.
    func table(of fields: [ArchivedObject.Field]) -> LuaTable {
        let table = bridge.state.makeTable(fields: fields.count)
        fill(Filling(contents: .value(.unknown(ArchivedObject(ArchivedClass(""), fields: fields))), table: table))
        fillAll()
        return table
    }

    /// A table of the elements, without a class.
    func table(of elements: [ArchiveValue]) -> LuaTable {
        let table = bridge.state.makeTable(array: elements.count)
        fill(Filling(contents: .value(.collection(ArchivedCollection(elements: elements))), table: table))
        fillAll()
        return table
    }

    /// Fills incomplete objects, and breaks the reference cycles of the archive's own objects.
    func finish() {
        completeShort()
        for source in sources { source.removeReferences() }
        sources = []
        tables = [:]
        foreignMetatables = [:]
    }

    /// Fills objects that were returned incomplete.
    func completeShort() {
        let waiting = short
        short = []
        let wasComplete = isComplete
        isComplete = true
        for filling in waiting { fill(filling) }
        fillAll()
        isComplete = wasComplete
    }

    // MARK: Making

    private func make(_ value: ArchiveValue?) -> LuaValue {
        switch value {
        case nil: return .nil
        case .string(let text): return .text(text)
        case .utf16?: return .text(value?.stringValue ?? "")
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .wideInteger(let value): return bridge.values.wideIntegers.value(WideIntegerValue(value))
        case .real(let value): return .number(value)
        case .single(let value): return .number(Double(value))
        case .data(let bytes): return bridge.values.datas.value(DataValue(bytes))
        case .date(let date): return bridge.values.dates.value(DateValue(date))
        case .null: return bridge.values.nulls.value(NullValue.shared)
        case .value: return bridge.foundation.value(FoundationBox(value))
        case .mutableString(let string): return .text(string.text)
        case .mutableData(let data): return bridge.values.datas.value(DataValue(data.bytes, mutable: data))
        case .collection(let collection):
            return table(value, collection, bridge.metatable(forCollection: collection.archivedClass.name))
        case .dictionary(let dictionary):
            return table(value, dictionary, bridge.metatable(forCollection: dictionary.archivedClass.name))
        case .unknown(let object): return table(value, object, foreignMetatable(object.archivedClass))
        case .object(let object): return (object as? ScriptObject).map { .table($0.table) } ?? .nil
        }
    }

    private func foreignMetatable(_ archivedClass: ArchivedClass) -> LuaTable {
        if let known = foreignMetatables[archivedClass] { return known }
        let metatable = bridge.makeMetatable(forForeign: archivedClass)
        foreignMetatables[archivedClass] = metatable
        return metatable
    }

    private func table(_ value: ArchiveValue?, _ object: AnyObject, _ metatable: LuaTable?) -> LuaValue {
        if let known = tables[ObjectIdentifier(object)] { return .table(known) }
        let table = bridge.state.makeTable()
        table.setMetatable(metatable)
        tables[ObjectIdentifier(object)] = table
        if let value {
            sources.append(value)
            unfilled.append(Filling(contents: .value(value), table: table))
        }
        return .table(table)
    }

    // MARK: Filling

    private func fillAll() {
        while let next = unfilled.popLast() {
            if isExhausted() {
                unfilled = []
                return
            }
            fill(next)
        }
    }

    private func fill(_ filling: Filling) {
        var filling = filling
        var memory = bridge.memory(of: filling.table) ?? ArchiveMemory()
        switch filling.contents {
        case .value(.collection(let collection)) where collection.kind == .countedSet:
            for index in filling.done..<collection.elements.count {
                let count = collection.counts.indices.contains(index) ? collection.counts[index] : 1
                addEntry(collection.elements[index], .integer(Int64(count)), to: filling.table, &memory)
            }
            filling.done = collection.elements.count
        case .value(.collection(let collection)):
            for index in filling.done..<collection.elements.count {
                addElement(.object(collection.elements[index]), at: index, to: filling.table, memory)
            }
            filling.done = collection.elements.count
        case .value(.dictionary(let dictionary)):
            for index in filling.done..<dictionary.entries.count {
                let entry = dictionary.entries[index]
                addEntry(entry.key, .object(entry.value), to: filling.table, &memory)
            }
            filling.done = dictionary.entries.count
        case .value(.unknown(let object)):
            for index in filling.done..<object.fields.count {
                addField(object.fields[index], to: filling.table, memory)
            }
            filling.done = object.fields.count
        case .inPlace(.list(let elements)):
            for index in filling.done..<elements.count {
                addElement(elements[index], at: index, to: filling.table, memory)
            }
            filling.done = elements.count
        case .inPlace(.dictionary(let entries)):
            for (key, value) in entries[filling.done...] {
                addEntry(ArchiveValue(propertyList: key), value, to: filling.table, &memory)
            }
            filling.done = entries.count
        default: break
        }
        if !memory.order.isEmpty || !memory.keys.isEmpty || !memory.values.isEmpty {
            bridge.setMemory(memory, of: filling.table)
        }
        if !isComplete { short.append(filling) }
    }

    private func addElement(
        _ element: ArchivedObject.FieldValue, at index: Int, to table: LuaTable, _ memory: ArchiveMemory
    ) {
        let place = Int64(index + 1)
        let (value, odd) = part(element)
        table[.integer(place)] = value.isNil ? null : value
        if let odd { memory.values[.integer(place)] = odd }
    }

    private func addEntry(
        _ key: ArchiveValue?, _ value: ArchivedObject.FieldValue, to table: LuaTable, _ memory: inout ArchiveMemory
    ) {
        let (shown, odd) = part(value)
        let place = addEntry(key, shown, to: table, &memory)
        if let odd { memory.values[place] = odd }
    }

    @discardableResult
    private func addEntry(
        _ key: ArchiveValue?, _ value: LuaValue, to table: LuaTable, _ memory: inout ArchiveMemory
    ) -> ArchiveMemory.Place {
        var luaKey = make(key)
        if case .number(let number) = luaKey, number.isNaN { luaKey = .nil }
        // Equal keys in Lua, and invalid ones: each stays distinct.
        if luaKey.isNil || !table[luaKey].isNil { luaKey = bridge.foundation.value(FoundationBox(key)) }
        table[luaKey] = value.isNil ? null : value
        guard let place = ArchiveMemory.Place(luaKey) else {
            let place = bridge.record(luaKey, of: table)
            memory.order.append(place)
            return place
        }
        memory.order.append(place)
        switch key {
        case .mutableString?, .single?, .utf16?: memory.keys[place] = key
        case .real(let number)? where Int64(exactly: number) != nil: memory.keys[place] = key
        default: break
        }
        return place
    }

    private func addField(_ field: ArchivedObject.Field, to table: LuaTable, _ memory: ArchiveMemory) {
        let place = ArchiveMemory.Place(field.key)
        memory.order.append(place)
        let (value, odd) = part(field.value)
        if let odd { memory.values[place] = odd }
        table[field.key] = value
    }

    private var null: LuaValue { bridge.values.nulls.value(NullValue.shared) }

    /// A field, or a part of a container: its Lua value, and its original form where the Lua value does not show it.
    private func part(
        _ value: ArchivedObject.FieldValue
    ) -> (lua: LuaValue, odd: ArchivedObject.FieldValue?) {
        switch value {
        case .object(let object):
            switch object {
            case nil, .single?, .mutableString?, .utf16?: return (make(object), value)
            default: return (make(object), nil)
            }
        case .inline(let leaf):
            do throws(LuaError) { return (try bridge.values.lua(leaf), value) } catch {
                failure = error
                return (.nil, nil)
            }
        case .list(let elements):
            return (container(value, bridge.state.makeTable(array: elements.count), "list"), .list([]))
        case .dictionary: return (container(value, bridge.state.makeTable(), "NSDictionary"), .dictionary([]))
        }
    }

    private func container(_ value: ArchivedObject.FieldValue, _ table: LuaTable, _ className: String) -> LuaValue {
        table.setMetatable(bridge.metatable(forCollection: className))
        unfilled.append(Filling(contents: .inPlace(value), table: table))
        return .table(table)
    }
}
