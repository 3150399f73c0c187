internal import CLuaShim
internal import Synchronization

/// Moves values between Swift and the stack. Callers reserve slots and balance their pushes.
extension LuaState {
    func push(_ reference: LuaReference, on L: OpaquePointer) {
        precondition(reference.releases === releases, "a LuaValue was used with another LuaState than its own")
        _ = clua_getref(L, reference.slot)
    }

    func push(_ value: LuaValue, on L: OpaquePointer) {
        switch value {
        case .nil: clua_pushnil(L)
        case .boolean(let value): clua_pushboolean(L, value ? 1 : 0)
        case .integer(let value): clua_pushinteger(L, value)
        case .number(let value): clua_pushnumber(L, value)
        case .string(let string): push(bytes: string.bytes, on: L)
        case .table(let table): push(table.reference, on: L)
        case .function(let function): push(function.reference, on: L)
        case .thread(let thread): push(thread.reference, on: L)
        case .userdata(let userdata): push(userdata.reference, on: L)
        }
    }

    func push(bytes: [UInt8], on L: OpaquePointer) {
        bytes.withUnsafeBytes { raw in
            clua_pushlstring(L, raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count)
        }
    }

    func reference(at index: Int32, on L: OpaquePointer) -> LuaReference {
        clua_pushvalue(L, index)
        return takeReference(on: L)
    }

    func value(at index: Int32, on L: OpaquePointer) -> LuaValue {
        switch LuaBasicType(rawValue: clua_type(L, index)) {
        case .boolean: return .boolean(clua_toboolean(L, index) != 0)
        case .number:
            return clua_isinteger(L, index) != 0
                ? .integer(clua_tointeger(L, index, nil)) : .number(clua_tonumber(L, index, nil))
        case .string: return .string(LuaString(bytes(at: index, on: L) ?? []))
        case .table: return .table(LuaTable(state: self, reference: reference(at: index, on: L)))
        case .function: return .function(LuaFunction(state: self, reference: reference(at: index, on: L)))
        case .thread:
            guard let thread = clua_tothread(L, index) else { return .nil }
            return .thread(LuaThread(state: self, reference: reference(at: index, on: L), L: thread))
        case .userdata: return .userdata(LuaUserdata(state: self, reference: reference(at: index, on: L)))
        default: return .nil
        }
    }

    func bytes(at index: Int32, on L: OpaquePointer) -> [UInt8]? {
        var length = 0
        guard let start = clua_tostring(L, index, &length) else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// Pops the values above `base`.
    func takeValues(on L: OpaquePointer, above base: Int32) -> [LuaValue] {
        let top = clua_gettop(L)
        defer { clua_settop(L, base) }
        guard top > base, clua_checkstack(L, 4) != 0 else { return [] }
        return (base + 1...top).map { value(at: $0, on: L) }
    }
}

/// Lua's basic types by their numbers (LUA_TNIL …).
enum LuaBasicType: Int32 {
    case none = -1
    case `nil`, boolean, lightUserdata, number, string, table, function, userdata, thread
}

/// A Lua value retained by Swift: a slot of the registry, freed with the last reference.
///
/// May be released on any thread: the slot is added to a list that the state's own thread empties.
package final class LuaReference: Sendable {
    let slot: Int32
    let releases: ReleaseList

    init(slot: Int32, releases: ReleaseList) {
        self.slot = slot
        self.releases = releases
    }

    deinit { releases.add(slot) }

    /// Registry slots to free.
    final class ReleaseList: Sendable {
        private let slots = Mutex<[Int32]>([])

        func add(_ slot: Int32) { slots.withLock { $0.append(slot) } }

        func take() -> [Int32] {
            slots.withLock { slots in
                defer { slots.removeAll(keepingCapacity: true) }
                return slots
            }
        }
    }
}
