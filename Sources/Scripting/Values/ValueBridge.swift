import CPlatform
import Lua
import PropertyList

/// Property-list values to Lua values and back.
final class ValueBridge {
    let state: LuaState
    let dates: LuaClass<DateValue>
    let datas: LuaClass<DataValue>
    let nulls: LuaClass<NullValue>
    let wideIntegers: LuaClass<WideIntegerValue>
    let uids: LuaClass<UIDValue>
    let readOnly: ReadOnlyTable

    /// How deep tables may nest: beyond it, a cycle is more likely than data.
    static let depthLimit = 128
    /// How many values a table may unfold to: tables in tables count each time.
    static let countLimit = 1 << 24
    private var remaining = 0
    private var levels = 0

    init(_ state: LuaState) {
        self.state = state
        dates = DateModule.makeClass(in: state)
        datas = DataModule.makeClass(in: state)
        nulls = NullModule.makeClass(in: state)
        wideIntegers = WideIntegerValue.makeClass(in: state)
        uids = UIDValue.makeClass(in: state)
        readOnly = ReadOnlyTable(state)
    }

    // MARK: To Lua

    /// The value in Lua; arrays and dictionaries come as read-only tables when asked.
    func lua(_ value: PropertyListValue, readOnly isReadOnly: Bool) -> LuaValue {
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
        case .uid(let number): return uids.value(UIDValue(number))
        case .array(let elements), .set(let elements):
            let table = state.makeTable(array: elements.count)
            for (index, element) in elements.enumerated() {
                table.rawSet(.integer(Int64(index + 1)), lua(element, readOnly: isReadOnly))
            }
            let isSet = if case .set = value { true } else { false }
            if isReadOnly { return .table(readOnly.make(table, isSet ? .set : .array, in: state)) }
            if isSet { readOnly.markSet(table) }
            return .table(table)
        case .dictionary(let entries):
            let table = state.makeTable(fields: entries.count)
            for (key, element) in entries { table.rawSet(.text(key), lua(element, readOnly: isReadOnly)) }
            if isReadOnly { return .table(readOnly.make(table, .dictionary, in: state)) }
            readOnly.markDictionary(table)
            return .table(table)
        }
    }

    // MARK: From Lua

    /// Why a Lua value is no property-list value, and where in the tree.
    struct Refusal: Error {
        var path: String
        var reason: String

        /// A table that contains itself has a path without end; its beginning tells enough.
        var message: String {
            path.isEmpty ? reason : "\(path.count > 60 ? path.prefix(60) + "…" : path): \(reason)"
        }
    }

    /// The property-list value of a Lua value.
    ///
    /// A table is an array when its keys are 1 to n, a dictionary when all are strings; an empty one is an array unless
    /// it is marked (`plist.dictionary{}`).
    func propertyList(
        _ value: LuaValue, path: String = "", depthLimit: Int = ValueBridge.depthLimit
    ) throws(Refusal) -> PropertyListValue {
        remaining = Self.countLimit
        levels = depthLimit
        return try propertyList(value, path, depthLimit)
    }

    private func propertyList(_ value: LuaValue, _ path: String, _ depth: Int) throws(Refusal) -> PropertyListValue {
        remaining -= 1
        guard remaining > 0 else {
            throw Refusal(
                path: path,
                reason: "the tables unfold to more than \(Self.countLimit) values; tables in several places "
                    + "count each time")
        }
        switch value {
        case .nil: throw Refusal(path: path, reason: "nil is no property-list value")
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let string):
            guard let text = string.text else {
                throw Refusal(path: path, reason: "the string is not UTF-8 text (data(…) holds other bytes)")
            }
            return .string(text)
        case .userdata:
            if let date = dates.object(of: value) { return .date(date.date) }
            if let data = datas.object(of: value) { return .data(data.bytes) }
            if nulls.object(of: value) != nil { return .null }
            if let wide = wideIntegers.object(of: value) {
                return Int64(exactly: wide.value).map(PropertyListValue.integer) ?? .wideInteger(wide.value)
            }
            if let uid = uids.object(of: value) { return .uid(uid.uid) }
        case .table(let table):
            guard depth > 0 else {
                throw Refusal(
                    path: path, reason: "the table is nested deeper than \(levels) levels, or contains itself")
            }
            guard cubby_stack_is_short() == 0 else {
                throw Refusal(path: path, reason: "the table is nested deeper than the thread's stack allows")
            }
            return try tableValue(table, path, depth - 1)
        case .function, .thread: break
        }
        throw Refusal(
            path: path,
            reason:
                "a \(className(of: value)) is no property-list value (string, number, boolean, date, data, array, dictionary)"
        )
    }

    /// What a value is, in a word.
    func className(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }

    private func tableValue(_ given: LuaTable, _ path: String, _ depth: Int) throws(Refusal) -> PropertyListValue {
        let shape = ReadOnlyTable.shape(of: given)
        let table = (try? ReadOnlyTable.contents(of: .table(given))) ?? given
        let count = table.rawCount
        if count > 0 || shape == .array || shape == .set {
            var elements: [PropertyListValue] = []
            elements.reserveCapacity(count)
            for index in 1..<(count + 1) {
                elements.append(
                    try propertyList(table.rawGet(.integer(Int64(index))), "\(path)[\(index)]", depth))
            }
            if let stray = keys(of: table, beyond: count) {
                throw Refusal(path: path, reason: "the table has both array elements and the key \(stray)")
            }
            return shape == .set ? .set(elements) : .array(elements)
        }
        var entries: [String: PropertyListValue] = [:]
        var failure: Refusal?
        try? table.forEach { key, element in
            guard let name = key.textValue else {
                failure = Refusal(path: path, reason: "the dictionary key \(state.describe(key)) is no string")
                return false
            }
            do throws(Refusal) {
                entries[name] = try propertyList(element, path.isEmpty ? name : "\(path).\(name)", depth)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return entries.isEmpty && shape != .dictionary ? .array([]) : .dictionary(entries)
    }

    /// A key that is no index of the array part.
    private func keys(of table: LuaTable, beyond count: Int) -> String? {
        var stray: String?
        try? table.forEach { key, _ in
            if case .integer(let index) = key, index >= 1, index <= Int64(count) { return true }
            stray = state.describe(key).description
            return false
        }
        return stray
    }
}
