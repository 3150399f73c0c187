internal import CLuaShim
internal import Platform

/// A script's function that gets rows as tables and gives them back changed, for many rows with the same names.
///
/// The names are pinned, so that a name that comes back is known by its address, and only what the function has changed
/// becomes a value of Swift. Belongs to one state.
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
    private var names: [LuaReference] = []
    /// Names by their addresses: a place plus one, 0 for a free slot. The capacity is a power of two.
    private var slots: [(address: UInt, place: Int)] = []
    /// Names that Lua does not keep as one object, being long.
    private var longNames: [[UInt8]: Int] = [:]
    /// The row in which a name was met last.
    private var met: [Int] = []
    private var row = 0
    /// Lua has one object for each text of at most so many bytes.
    private static let shortLength = 40

    package init(_ function: LuaFunction) { self.function = function }

    /// The number of names.
    package var count: Int { names.count }

    /// Adds the name of the next place. Another than all before it.
    package func addName(_ name: [UInt8]) throws(LuaError) {
        let state = function.state
        let L = try state.enter(capacity: 4)
        state.push(bytes: name, on: L)
        let address = UInt(bitPattern: clua_topointer(L, -1))
        if name.count > Self.shortLength { longNames[name] = names.count }
        names.append(state.takeReference(on: L))
        met.append(0)
        if names.count * 4 > slots.count {
            let old = slots.filter { $0.place > 0 }
            slots = Array(repeating: (0, 0), count: max(32, slots.count * 2))
            for slot in old { insert(slot.address, slot.place) }
        }
        insert(address, names.count)
    }

    private func insert(_ address: UInt, _ place: Int) {
        var slot = Self.hash(address) & (slots.count - 1)
        while slots[slot].place > 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = (address, place)
    }

    private static func hash(_ address: UInt) -> Int { Int(truncatingIfNeeded: (address >> 4) &* 0x9E37_79B9 >> 8) }

    private func place(_ address: UInt) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = Self.hash(address) & (slots.count - 1)
        while slots[slot].place > 0 {
            if slots[slot].address == address { return slots[slot].place - 1 }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Calls the function with a row.
    ///
    /// - Parameters:
    ///   - cell: the row, by the places of its names. Called again for names whose texts come back.
    ///   - change: called for each difference.
    /// - Returns: what came back.
    /// - Throws: `LuaError`; errors of `change`.
    package func call(_ cell: (Int) -> Cell, _ change: (Change) throws -> Void) throws -> Outcome {
        let state = function.state
        let L = try state.enter(capacity: 12)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        state.push(function.reference, on: L)
        clua_createtable(L, 0, Int32(clamping: names.count))
        for place in names.indices {
            switch cell(place) {
            case .absent: continue
            case .text(let text):
                state.push(names[place], on: L)
                let bytes = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
                clua_pushlstring(L, bytes, text.count)
            case .value(let value):
                state.push(names[place], on: L)
                state.push(value, on: L)
            }
            guard !state.isRefusing else { throw state.notEnoughMemory }
            clua_rawset(L, -3)
        }
        let status = clua_pcall(L, 1, 1)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        switch LuaBasicType(rawValue: clua_type(L, base + 1)) {
        case .nil?: return .nothing
        case .table?: break
        default: return .other(state.value(at: base + 1, on: L))
        }
        row += 1
        clua_pushnil(L)
        while clua_nextentry(L, base + 1) != 0 {
            try readEntry(base + 2, L, cell, change)
            clua_settop(L, base + 2)
        }
        for place in names.indices where met[place] != row {
            if case .absent = cell(place) { continue }
            try change(.removed(place))
        }
        return .row
    }

    /// Compares an entry, the key at an index of the stack and the value above it, with what was given.
    private func readEntry(
        _ index: Int32, _ L: OpaquePointer, _ cell: (Int) -> Cell, _ change: (Change) throws -> Void
    ) throws {
        let state = function.state
        guard let place = knownPlace(at: index, L) else {
            try change(.added(state.value(at: index, on: L), state.value(at: index + 1, on: L)))
            return
        }
        met[place] = row
        if case .text(let given) = cell(place), clua_type(L, index + 1) == LuaBasicType.string.rawValue {
            var length = 0
            let bytes = clua_tostring(L, index + 1, &length)
            if length == given.count, let bytes, let start = given.baseAddress, memcmp(bytes, start, length) == 0 {
                return
            }
        }
        try change(.changed(place, state.value(at: index + 1, on: L)))
    }

    private func knownPlace(at index: Int32, _ L: OpaquePointer) -> Int? {
        guard clua_type(L, index) == LuaBasicType.string.rawValue else { return nil }
        if let place = place(UInt(bitPattern: clua_topointer(L, index))) { return place }
        guard !longNames.isEmpty, clua_rawlen(L, index) > Self.shortLength else { return nil }
        return function.state.bytes(at: index, on: L).flatMap { longNames[$0] }
    }
}
