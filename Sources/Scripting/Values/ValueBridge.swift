import Lua
import PropertyList

/// Property-list values to Lua values and back.
final class ValueBridge {
    let state: LuaState
    let dates: LuaClass<DateValue>
    let datas: LuaClass<DataValue>
    let nulls: LuaClass<NullValue>
    let readOnly: ReadOnlyTable

    /// How deep tables may nest: beyond it, a cycle is more likely than data.
    static let depthLimit = 128

    init(_ state: LuaState) {
        self.state = state
        dates = DateModule.makeClass(in: state)
        datas = DataModule.makeClass(in: state)
        nulls = NullModule.makeClass(in: state)
        readOnly = ReadOnlyTable(state)
    }

    // MARK: To Lua

    /// The value in Lua; arrays and dictionaries come as read-only tables when asked.
    func lua(_ value: PropertyListValue, readOnly isReadOnly: Bool) -> LuaValue {
        switch value {
        case .null: return nulls.value(NullValue.shared)
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .wideInteger(let value): return .number(Double(value))
        case .real(let value): return .number(value)
        case .single(let value): return .number(Double(value))
        case .date(let date): return dates.value(DateValue(date))
        case .data(let bytes): return datas.value(DataValue(bytes))
        case .string(let text): return .text(text)
        case .uid(let number): return .integer(Int64(number))
        case .array(let elements), .set(let elements):
            let table = state.makeTable(array: elements.count)
            for (index, element) in elements.enumerated() {
                table.rawSet(.integer(Int64(index + 1)), lua(element, readOnly: isReadOnly))
            }
            return .table(isReadOnly ? readOnly.make(table, .array, in: state) : table)
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
    func propertyList(_ value: LuaValue, path: String = "", depth: Int = 0) throws(Refusal) -> PropertyListValue {
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
        case .table(let table):
            guard depth < Self.depthLimit else {
                throw Refusal(
                    path: path, reason: "the table is nested deeper than \(Self.depthLimit) levels, or contains itself")
            }
            return try tableValue(table, path: path, depth: depth)
        case .function, .thread: break
        }
        throw Refusal(
            path: path,
            reason:
                "a \(name(of: value)) is no property-list value (string, number, boolean, date, data, array, dictionary)"
        )
    }

    private func name(of value: LuaValue) -> String {
        if case .userdata(let userdata) = value { return userdata.className ?? "userdata" }
        return value.typeName
    }

    private func tableValue(_ given: LuaTable, path: String, depth: Int) throws(Refusal) -> PropertyListValue {
        let shape = ReadOnlyTable.shape(of: given)
        let table = (try? ReadOnlyTable.contents(of: .table(given))) ?? given
        let count = table.rawCount
        if count > 0 || shape == .array {
            var elements: [PropertyListValue] = []
            elements.reserveCapacity(count)
            for index in 1..<(count + 1) {
                elements.append(
                    try propertyList(table.rawGet(.integer(Int64(index))), path: "\(path)[\(index)]", depth: depth + 1))
            }
            if let stray = keys(of: table, beyond: count) {
                throw Refusal(path: path, reason: "the table has both array elements and the key \(stray)")
            }
            return .array(elements)
        }
        var entries: [String: PropertyListValue] = [:]
        var failure: Refusal?
        try? table.forEach { key, element in
            guard let name = key.textValue else {
                failure = Refusal(path: path, reason: "the dictionary key \(state.describe(key)) is no string")
                return false
            }
            do throws(Refusal) {
                entries[name] = try propertyList(
                    element, path: path.isEmpty ? name : "\(path).\(name)", depth: depth + 1)
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
            if case .integer(let index) = key, (1...Int64(count)).contains(index) { return true }
            stray = state.describe(key).description
            return false
        }
        return stray
    }
}
