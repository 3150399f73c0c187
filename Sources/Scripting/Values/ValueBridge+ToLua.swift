import CPlatform
import Lua
import PropertyList

/// Conversion of property-list values to Lua values.
extension ValueBridge {
    /// The Lua value; arrays and dictionaries are read-only tables on request.
    ///
    /// - Throws: `runtime` beyond the values of one conversion, `memory` when the tables exceed the scripts' limit.
    func lua(_ value: PropertyListValue, readOnly isReadOnly: Bool) throws(LuaError) -> LuaValue {
        var budget = ConversionBudget()
        return try lua(value, isReadOnly, &budget)
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
            note(half, of: table)
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
                if case .utf16 = element { half.values[ArchiveMemory.Place(key)] = element }
            }
            for (key, element) in entries.sortedOthers {
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
                let place = ArchiveMemory.Place(name)
                if case .utf16 = key, let place { half.keys[place] = key }
                guard case .utf16 = element else { continue }
                if let place { half.values[place] = element } else { half.valuesOfOtherKeys[key] = element }
            }
            note(half, of: table)
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
        do throws(ConversionRefusal) { try budget.visit(bytes: bytes) } catch {
            throw LuaError(.runtime, error.message)
        }
        try state.checkRoom(for: bytes)
    }
}
