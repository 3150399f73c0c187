internal import CLuaShim
internal import Platform

/// A script's function that gets rows as tables and gives them back changed, for many rows with the same names.
///
/// Texts become a table, and are compared with what comes back, without a value of Swift in between: only what the function
/// has changed becomes one. Belongs to one state.
package final class LuaRowFunction {
    /// What a row has under a name.
    package enum Cell {
        case absent
        /// Bytes that become a string.
        case text(UnsafeBufferPointer<UInt8>)
        case value(LuaValue)
    }

    /// A difference between the row that was given and the one that came back.
    package enum Change {
        /// Another value under the name of this place.
        case changed(Int, LuaValue)
        /// No value under the name of this place.
        case removed(Int)
        /// An entry under another key.
        case added(LuaValue, LuaValue)
    }

    /// What the function gave back.
    package enum Outcome {
        case row
        /// Nil.
        case nothing
        /// Neither nil nor a table.
        case other(LuaValue)
    }

    private let function: LuaFunction
    /// The table of the names, from 1 on; nil without names.
    private var names: LuaReference?
    /// The places of the names, a name's bytes each.
    private var places: [[UInt8]: Int] = [:]
    /// The texts of the row by place, and what came back of them.
    private var texts: [clua_text] = []
    private var states: [UInt8] = []

    /// The address of a text without bytes.
    private let somewhere = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

    package init(_ function: LuaFunction) { self.function = function }

    deinit { somewhere.deallocate() }

    /// The number of names.
    package var count: Int { texts.count }

    /// Adds the name of the next place. Another than all before it.
    package func addName(_ name: [UInt8]) throws(LuaError) {
        let state = function.state
        let L = try state.enter(capacity: 4)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        if let names {
            state.push(names, on: L)
        } else {
            clua_createtable(L, 0, 0)
            clua_pushvalue(L, -1)
            names = state.takeReference(on: L)
        }
        state.push(bytes: name, on: L)
        clua_rawseti(L, base + 1, Int64(texts.count + 1))
        guard !state.isRefusing else { throw state.notEnoughMemory }
        places[name] = texts.count
        texts.append(clua_text(bytes: nil, length: 0))
        states.append(0)
    }

    /// Calls the function with a row.
    ///
    /// - Parameters:
    ///   - cell: the row, by the places of its names; its texts stay where they are until the end of the call.
    ///   - change: called for each difference.
    /// - Returns: what came back.
    /// - Throws: `LuaError`; errors of `cell` and `change`.
    package func call(_ cell: (Int) throws -> Cell, _ change: (Change) throws -> Void) throws -> Outcome {
        let state = function.state
        let L = try state.enter(capacity: 12)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        let (table, result) = (base + 1, base + 2)
        if let names { state.push(names, on: L) } else { clua_pushnil(L) }
        state.push(function.reference, on: L)
        var values: [(place: Int, value: LuaValue)] = []
        for place in texts.indices {
            switch try cell(place) {
            case .absent: texts[place].bytes = nil
            case .text(let text):
                // An empty text may have no address.
                let start = text.baseAddress.map { UnsafeRawPointer($0) } ?? somewhere
                texts[place] = clua_text(bytes: start.assumingMemoryBound(to: CChar.self), length: text.count)
            case .value(let value):
                texts[place].bytes = nil
                values.append((place, value))
            }
        }
        clua_pushtextrow(L, table, texts, Int32(clamping: texts.count))
        for (place, value) in values {
            clua_pushinteger(L, Int64(place + 1))
            _ = clua_rawget(L, table)
            state.push(value, on: L)
            clua_rawset(L, -3)
        }
        guard !state.isRefusing else { throw state.notEnoughMemory }
        let status = clua_pcall(L, 1, 1)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        switch LuaBasicType(rawValue: clua_type(L, result)) {
        case .nil?: return .nothing
        case .table?: break
        default: return .other(state.value(at: result, on: L))
        }
        let added = clua_comparetextrow(L, result, table, texts, Int32(clamping: texts.count), &states)
        var next = values.startIndex
        for place in texts.indices {
            let isValue = next < values.endIndex && values[next].place == place
            if isValue { next += 1 }
            switch Int32(states[place]) {
            case CLUA_TEXT_SAME: continue
            case CLUA_TEXT_NONE where !isValue && texts[place].bytes == nil: continue
            case CLUA_TEXT_NONE: try change(.removed(place))
            default:
                clua_pushinteger(L, Int64(place + 1))
                _ = clua_rawget(L, table)
                _ = clua_rawget(L, result)
                let value = state.value(at: result + 1, on: L)
                clua_settop(L, result)
                try change(.changed(place, value))
            }
        }
        if added > 0 { try readAdded(result, L, change) }
        return .row
    }

    /// Reads the entries of a table under other keys than the names.
    private func readAdded(_ table: Int32, _ L: OpaquePointer, _ change: (Change) throws -> Void) throws {
        let state = function.state
        clua_pushnil(L)
        while clua_nextentry(L, table) != 0 {
            let isName =
                clua_type(L, table + 1) == LuaBasicType.string.rawValue
                && state.bytes(at: table + 1, on: L).map { places[$0] != nil } ?? false
            if !isName {
                try change(.added(state.value(at: table + 1, on: L), state.value(at: table + 2, on: L)))
            }
            clua_settop(L, table + 1)
        }
    }

}
