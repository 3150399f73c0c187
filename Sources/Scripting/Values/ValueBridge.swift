import CPlatform
import Items
package import Lua
package import PropertyList
import TimeZones

/// Converts between property-list values and Lua values.
package final class ValueBridge {
    package let state: LuaState
    package let dates: LuaClass<DateValue>
    package let datas: LuaClass<DataValue>
    package let nulls: LuaClass<NullValue>
    package let wideIntegers: LuaClass<WideIntegerValue>
    let uids: LuaClass<UIDValue>
    package let readOnly: ReadOnlyTable
    private let halfTexts: LuaClass<HalfTextsOfTable>
    /// The texts that are not Unicode, by table, weakly; nil while there are none.
    private var halfTextTable: LuaTable?

    /// The class of the tables with a metatable; nil for others. Set by the owner of the classes.
    package var objectClass: (_ metatable: LuaTable) -> String? = { _ in nil }

    /// The dates' zones and texts.
    package let clock: LocalClock

    init(_ state: LuaState, zones: ZoneDatabase) {
        self.state = state
        clock = LocalClock(zones)
        dates = DateClass.make(in: state, clock)
        datas = DataModule.makeClass(in: state)
        nulls = NullModule.makeClass(in: state)
        wideIntegers = WideIntegerValue.makeClass(in: state)
        uids = UIDValue.makeClass(in: state)
        readOnly = ReadOnlyTable(state)
        halfTexts = LuaClass(hidden: "texts of a table", in: state)
    }

    /// A key or an element's position, compared by content.
    package enum Place: Hashable {
        case text(LuaString)
        case integer(Int64)
        case number(UInt64)
        case boolean(Bool)
        /// A key with identity: its position in the bridge's list of the table's keys.
        case reference(Int64)

        /// Nil for a value with identity.
        package init?(_ value: LuaValue) {
            switch value {
            case .string(let text): self = .text(text)
            case .integer(let value): self = .integer(value)
            case .number(let value): self = Int64(exactly: value).map(Place.integer) ?? .number(value.bitPattern)
            case .boolean(let value): self = .boolean(value)
            default: return nil
            }
        }

        package init(_ text: String) { self = .text(LuaString(text)) }

        /// The place as a table's key; nil for one with identity.
        package var lua: LuaValue {
            switch self {
            case .text(let text): .string(text)
            case .integer(let value): .integer(value)
            case .number(let bits): .number(Double(bitPattern: bits))
            case .boolean(let value): .boolean(value)
            case .reference: .nil
            }
        }
    }

    /// The texts of a table from a property list that are not Unicode. A script sees U+FFFD in them; where it has not
    /// changed them, they are written back as they were.
    package struct HalfTexts {
        package var values: [Place: PropertyListValue] = [:]
        package var keys: [Place: PropertyListValue] = [:]
        /// Those under dates, data and other keys that Lua compares by identity, by the property list's own key.
        var valuesOfOtherKeys: [PropertyListValue: PropertyListValue] = [:]

        package var isEmpty: Bool { values.isEmpty && keys.isEmpty && valuesOfOtherKeys.isEmpty }

        /// The value at a place, if what a script has there is still its text.
        static func original(_ earlier: PropertyListValue?, _ value: LuaValue) -> PropertyListValue? {
            guard let text = earlier?.text, value.textValue == text else { return nil }
            return earlier
        }
    }

    final class HalfTextsOfTable {
        let texts: HalfTexts

        init(_ texts: HalfTexts) { self.texts = texts }
    }

    func halfTexts(of table: LuaTable) -> HalfTexts? {
        halfTextTable.flatMap { halfTexts.object(of: $0[.table(table)]) }?.texts
    }

    package func record(_ texts: HalfTexts, of table: LuaTable) {
        if texts.isEmpty { return }
        let all = halfTextTable ?? Self.weakTable(in: state)
        halfTextTable = all
        all[.table(table)] = halfTexts.value(HalfTextsOfTable(texts))
    }

    /// A table whose keys do not keep their objects.
    package static func weakTable(in state: LuaState) -> LuaTable {
        let table = state.makeTable()
        table.setMetatable(state.makeTable(["__mode": "k"]))
        return table
    }

    /// The name of a value's type.
    package func className(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }
}

/// Conversion of property-list values to Lua values.
extension ValueBridge {
    /// The Lua value.
    ///
    /// - Throws: `runtime` beyond the values of one conversion, `memory` when the tables exceed the scripts' limit.
    package func lua(_ value: PropertyListValue) throws(LuaError) -> LuaValue {
        var budget = ConversionBudget()
        return try lua(value, false, &budget)
    }

    /// The Lua value with arrays and dictionaries as read-only tables; nil for none.
    package func readOnly(_ value: PropertyListValue?) throws(LuaError) -> LuaValue {
        var budget = ConversionBudget()
        return try value.map { value throws(LuaError) in try lua(value, true, &budget) } ?? .nil
    }

    /// The same of a field's value, which is a day if the field is declared to have days.
    package func readOnly(_ value: PropertyListValue?, isDay: @autoclosure () -> Bool) throws(LuaError) -> LuaValue {
        if case .date(let date)? = value, isDay() { return dates.value(DateValue(day: date)) }
        return try readOnly(value)
    }

    private func lua(
        _ value: PropertyListValue, _ isReadOnly: Bool, _ budget: inout ConversionBudget
    ) throws(LuaError) -> LuaValue {
        switch value {
        case .null: return nulls.value(NullValue.shared)
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .wideInteger(let value): return wideIntegers.value(WideIntegerValue(value))
        case .real(let value): return .number(value)
        case .single(let value): return .number(Double(value))
        case .date(let date): return dates.value(DateValue(date))
        case .data(let bytes): return datas.value(DataValue(bytes))
        case .string(let text): return .text(text)
        case .utf16: return .text(value.text ?? "")
        case .uid(let number): return uids.value(UIDValue(number))
        case .array(let elements), .set(let elements):
            try visit(&budget, slots: elements.count)
            let table = state.makeTable(array: elements.count)
            var half = HalfTexts()
            for (index, element) in elements.enumerated() {
                try visit(&budget, element)
                table[index + 1] = try lua(element, isReadOnly, &budget)
                if case .utf16 = element { half.values[.integer(Int64(index + 1))] = element }
            }
            record(half, of: table)
            let isSet = if case .set = value { true } else { false }
            if isReadOnly { return .table(readOnly.make(table, isSet ? .set : .array, in: state)) }
            if isSet { readOnly.markSet(table) }
            return .table(table)
        case .dictionary(let entries):
            try visit(&budget, slots: entries.count * 2)
            let table = state.makeTable(fields: entries.count)
            var half = HalfTexts()
            for (key, element) in entries.textEntries {
                try visit(&budget, element)
                table[key] = try lua(element, isReadOnly, &budget)
                if case .utf16 = element { half.values[Place(key)] = element }
            }
            for (key, element) in entries.sortedOtherEntries {
                try visit(&budget, key)
                try visit(&budget, element)
                let name = try lua(key, true, &budget)
                if case .number(let number) = name, number.isNaN {
                    throw LuaError(.runtime, "a table cannot have a key that is not a number")
                }
                guard table[name].isNil else {
                    throw LuaError(
                        .runtime,
                        "a table cannot have both \(key.nameOfKey) and an equal key: read it with cubby convert")
                }
                table[name] = try lua(element, isReadOnly, &budget)
                let place = Place(name)
                if case .utf16 = key, let place { half.keys[place] = key }
                guard case .utf16 = element else { continue }
                if let place { half.values[place] = element } else { half.valuesOfOtherKeys[key] = element }
            }
            record(half, of: table)
            if isReadOnly { return .table(readOnly.make(table, .dictionary, in: state)) }
            readOnly.markDictionary(table)
            return .table(table)
        }
    }

    private func visit(_ budget: inout ConversionBudget, _ element: PropertyListValue) throws(LuaError) {
        switch element {
        case .string(let text): try visit(&budget, bytes: text.utf8.count)
        case .utf16(let units): try visit(&budget, bytes: units.count * 3)
        case .data(let bytes): try visit(&budget, bytes: bytes.count)
        case .array, .set, .dictionary: break
        default: try visit(&budget, bytes: 0)
        }
    }

    /// Counts a table before its creation.
    private func visit(_ budget: inout ConversionBudget, slots: Int) throws(LuaError) {
        guard cubby_stack_is_short() == 0 else {
            throw LuaError(.runtime, "the value is nested deeper than the thread's stack allows")
        }
        try visit(&budget, bytes: 56 + slots * 16)
    }

    /// The allocator counts the host's memory as debt and never refuses it, so the host checks the limit.
    @inline(__always)
    private func visit(_ budget: inout ConversionBudget, bytes: Int) throws(LuaError) {
        do throws(ConversionError) { try budget.visit(bytes: bytes) } catch {
            throw LuaError(.runtime, error.message)
        }
        try state.checkCapacity(for: bytes)
    }
}

/// Conversion of Lua values to property-list values.
extension ValueBridge {
    /// The reason why a Lua value is not a property-list value, and its path.
    package struct BridgeError: Error {
        let path: String
        let reason: String
        /// Whether it is an object, which only an archive can represent.
        package let isObject: Bool

        package init(path: String, reason: String, isObject: Bool = false) {
            (self.path, self.reason, self.isObject) = (path, reason, isObject)
        }

        /// The path of a cyclic table is endless; its beginning suffices.
        package var message: String {
            path.isEmpty ? reason : "\(path.count > 60 ? path.prefix(60) + "…" : path): \(reason)"
        }

        /// The same error, one level further out.
        fileprivate func below(_ step: @autoclosure () -> String) -> BridgeError {
            BridgeError(path: path.utf8.count > 1024 ? path : step() + path, reason: reason, isObject: isObject)
        }
    }

    /// The property-list value of a Lua value.
    ///
    /// A table is an array when its keys are 1 to n, else a dictionary, whose keys may be of any kind. An empty table is
    /// an array. A marked one (`plist.dictionary{}`) is a dictionary in both cases. A shared table is converted once,
    /// and shared.
    ///
    /// An instance of a class is refused, since its class would be lost.
    package func propertyList(
        _ value: LuaValue, path: String = "", depthLimit: Int = ConversionBudget.depthLimit,
        writesDays: Bool = false
    ) throws(BridgeError) -> PropertyListValue {
        var reading = TableReading(bridge: self, levels: depthLimit, writesDays: writesDays)
        do throws(BridgeError) {
            let node = try reading.value(value, depthLimit)
            do throws(ConversionError) { try reading.budget.check(unfolded: node.size) } catch {
                throw BridgeError(path: "", reason: error.message)
            }
            return node.value
        } catch {
            let rest = path.isEmpty && error.path.hasPrefix(".") ? String(error.path.dropFirst()) : error.path
            throw BridgeError(path: path + rest, reason: error.reason, isObject: error.isObject)
        }
    }
}

/// One conversion of a table and its contents.
private struct TableReading {
    typealias BridgeError = ValueBridge.BridgeError

    struct Node {
        var value: PropertyListValue
        /// The number of expanded values, and of levels.
        var size = 1
        var height = 0
    }

    let bridge: ValueBridge
    let levels: Int
    /// Whether a day becomes its text.
    let writesDays: Bool
    var budget = ConversionBudget()
    /// Nested tables by their addresses: no code that could collect them runs meanwhile.
    private var done: [UnsafeRawPointer: Node] = [:]
    /// Tables made from read-only ones, retained so that their addresses are not reused.
    private var made: [LuaTable] = []

    init(bridge: ValueBridge, levels: Int, writesDays: Bool) {
        (self.bridge, self.levels, self.writesDays) = (bridge, levels, writesDays)
    }

    mutating func value(_ value: LuaValue, _ depth: Int) throws(BridgeError) -> Node {
        switch value {
        case .nil: throw BridgeError(path: "", reason: "nil is not a property-list value")
        case .boolean(let value): return try leaf(.boolean(value))
        case .integer(let value): return try leaf(.integer(value))
        case .number(let value): return try leaf(.real(value))
        case .string(let string):
            guard let text = string.text else {
                throw BridgeError(path: "", reason: "the string is not UTF-8 text (data(…) holds other bytes)")
            }
            return try leaf(.string(text), bytes: text.utf8.count)
        case .userdata:
            if let date = bridge.dates.object(of: value) {
                return try leaf(date.isDay && writesDays ? .string(date.date.dayText) : .date(date.date))
            }
            if let data = bridge.datas.object(of: value) { return try leaf(.data(data.bytes), bytes: data.bytes.count) }
            if bridge.nulls.object(of: value) != nil { return try leaf(.null) }
            if let wide = bridge.wideIntegers.object(of: value) {
                return try leaf(Int64(exactly: wide.value).map(PropertyListValue.integer) ?? .wideInteger(wide.value))
            }
            if let uid = bridge.uids.object(of: value) { return try leaf(.uid(uid.uid)) }
        case .table(let table): return try node(of: table, depth)
        case .function, .thread: break
        }
        throw BridgeError(
            path: "",
            reason: "\(bridge.className(of: value).withArticle) is not a property-list value "
                + "(string, number, boolean, date, data, array, dictionary)")
    }

    private mutating func leaf(_ value: PropertyListValue, bytes: Int = 0) throws(BridgeError) -> Node {
        try visit(bytes)
        return Node(value: value)
    }

    private mutating func visit(_ bytes: Int = 0) throws(BridgeError) {
        do throws(ConversionError) { try budget.visit(bytes: bytes) } catch {
            throw BridgeError(path: "", reason: error.message)
        }
    }

    private mutating func node(of table: LuaTable, _ depth: Int) throws(BridgeError) -> Node {
        let isInner = depth < levels
        let identity = isInner ? table.identity : nil
        if let identity, let known = done[identity], known.height <= depth { return known }
        guard depth > 0 else {
            throw BridgeError(path: "", reason: "the table is nested deeper than \(levels) levels, or contains itself")
        }
        guard cubby_stack_is_short() == 0 else {
            throw BridgeError(path: "", reason: "the table is nested deeper than the thread's stack allows")
        }
        try visit()
        let node = try contents(of: table, depth - 1)
        if let identity { done[identity] = node }
        return node
    }

    private mutating func contents(of given: LuaTable, _ depth: Int) throws(BridgeError) -> Node {
        let shape = ReadOnlyTable.shape(of: given)
        if shape == nil, let metatable = given.metatable, let name = bridge.objectClass(metatable) {
            throw BridgeError(
                path: "",
                reason:
                    "an instance of \(name) is not a property-list value: give a plain table of its fields, or the bytes "
                    + "of archiver.archivedData",
                isObject: true)
        }
        let contents = (try? ReadOnlyTable.contents(of: .table(given))) ?? nil
        if let contents { made.append(contents) }
        let table = contents ?? given
        let count = table.count
        let half = bridge.halfTexts(of: table)
        var result = Node(value: .null, height: 1)
        if shape != .dictionary, count > 0 || shape == .array || shape == .set {
            var elements: [PropertyListValue] = []
            elements.reserveCapacity(count)
            for index in 1..<(count + 1) {
                do throws(BridgeError) {
                    let given = table[index]
                    var element = try value(given, depth)
                    if let half,
                        let earlier = ValueBridge.HalfTexts.original(half.values[.integer(Int64(index))], given)
                    {
                        element.value = earlier
                    }
                    result.add(element)
                    elements.append(element.value)
                } catch { throw error.below("[\(index)]") }
            }
            if let stray = keys(of: table, beyond: count) {
                throw BridgeError(path: "", reason: "the table has both array elements and the key \(stray)")
            }
            result.value = shape == .set ? .set(elements) : .array(elements)
            return result
        }
        var entries = PropertyListDictionary()
        var failure: BridgeError?
        try? table.forEach { key, element in
            do throws(BridgeError) {
                var name = try self.key(key, depth)
                do throws(BridgeError) {
                    let given = element
                    var element = try value(given, depth)
                    if let half {
                        let place = ValueBridge.Place(key)
                        let known = place.map { half.values[$0] } ?? half.valuesOfOtherKeys[name.value]
                        name.value = ValueBridge.HalfTexts.original(place.flatMap { half.keys[$0] }, key) ?? name.value
                        element.value = ValueBridge.HalfTexts.original(known, given) ?? element.value
                    }
                    result.add(element)
                    guard entries[name.value] == nil else {
                        throw BridgeError(
                            path: "", reason: "the table has two keys that are one: \(name.value.nameOfKey)")
                    }
                    entries[name.value] = element.value
                    if name.value.text == nil { result.add(name) }
                } catch { throw error.below(name.value.text.map { ".\($0)" } ?? "[\(name.value.keyText)]") }
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        result.value = entries.isEmpty && shape != .dictionary ? .array([]) : .dictionary(entries)
        return result
    }

    /// The key of a dictionary's entry.
    private mutating func key(_ key: LuaValue, _ depth: Int) throws(BridgeError) -> Node {
        do throws(BridgeError) { return try value(key, depth) } catch {
            throw BridgeError(path: "", reason: "the dictionary key \(named(key)) cannot be kept: \(error.reason)")
        }
    }

    /// A key for a message: its text, or what it is if that would be an address.
    private func named(_ key: LuaValue) -> String {
        switch key {
        case .function, .thread, .table: bridge.className(of: key).withArticle
        default: bridge.state.describe(key).description
        }
    }

    /// A key outside the array part.
    private func keys(of table: LuaTable, beyond count: Int) -> String? {
        var stray: String?
        try? table.forEach { key, _ in
            if case .integer(let index) = key, index >= 1, index <= Int64(count) { return true }
            stray = named(key)
            return false
        }
        return stray
    }
}

extension TableReading.Node {
    fileprivate mutating func add(_ element: Self) {
        size = ConversionBudget.sum(size, element.size)
        height = max(height, element.height + 1)
    }
}
