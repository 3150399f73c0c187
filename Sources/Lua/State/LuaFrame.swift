internal import CLuaShim
internal import Synchronization

/// A call on the stack at an error, as shown by a debugger.
public struct LuaFrame: Sendable, Hashable {
    /// The chunk's name as in errors; `[C]` for a host function.
    public let source: String
    /// The executing line; nil for a host function.
    public let line: Int?
    /// The name by which the function was called, or `function <rules.lua:22>` without one; nil for a chunk.
    public let function: String?
    /// The local variables in scope, in the order of their declarations.
    public let locals: [LuaLocal]
}

/// A local variable at an error.
public struct LuaLocal: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its value at the error in Lua's notation; depth and length are limited.
    public let value: String
}

extension LuaFrame: CustomStringConvertible {
    /// `rules.lua:12: in discount (rate = 0.2, order = { total = 40 })`.
    public var description: String {
        let place = line.map { "\(source):\($0)" } ?? source
        let values = locals.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
        return "\(place): in \(function ?? "chunk")" + (locals.isEmpty ? "" : " (\(values))")
    }
}

extension LuaState {
    /// Whether errors record the calls on the stack: ``LuaError/frames``. False by default. An error that a script
    /// catches has no additional cost; another one costs O(frames and their local variables), at most 50 frames of 100
    /// variables. An error for lack of memory has no frames.
    public var keepsFrames: Bool {
        get {
            checkUse()
            return clua_keeps_frames(host) != 0
        }
        set {
            checkUse()
            clua_keep_frames(host, newValue ? 1 : 0)
        }
    }

    /// The frames of the last error. Does not call metamethods, since the script may have been stopped.
    func takeFrames(on L: OpaquePointer) -> [LuaFrame] {
        guard clua_checkstack(L, 4) != 0, clua_pushframes(L) != 0 else { return [] }
        let frames = LuaTable(state: self, reference: takeReference(on: L))
        var found = (1...max(frames.count, 1)).compactMap { position -> LuaFrame? in
            guard case .table(let frame) = frames[position] else { return nil }
            var locals: [LuaLocal] = []
            if case .table(let variables) = frame[4] {
                for at in stride(from: 1, to: Int(frame[5].integerValue ?? 0), by: 2) {
                    guard let name = variables[at].textValue else { continue }
                    var text = LuaValueText(.error)
                    text.callsMetamethods = false
                    locals.append(LuaLocal(name: name, value: text.describe(variables[at + 1])))
                }
            }
            return LuaFrame(
                source: frame[1].textValue ?? "?", line: frame[2].integerValue.flatMap { $0 > 0 ? Int($0) : nil },
                function: frame[3].textValue, locals: locals)
        }
        // The host's function at the bottom of an engine's run has no useful information.
        while let last = found.last, last.line == nil, last.function == nil { found.removeLast() }
        return found
    }
}

/// A call on the stack, for a profiler and for messages.
package struct LuaActiveCall: Hashable, Sendable {
    /// The function, as far as functions can be distinguished on a stack.
    package struct Function: Hashable, Sendable {
        /// The name of the call; nil for a chunk, and for a call by the host.
        package let name: String?
        /// The chunk's name as in errors.
        package let source: String
        /// The first line of the definition, counted from 1; 0 for a chunk.
        package let line: Int
        /// Whether it is a function of the host or of Lua's libraries.
        package let isNative: Bool

        package init(name: String?, source: String, line: Int, isNative: Bool) {
            self.name = name
            self.source = source
            self.line = line
            self.isNative = isNative
        }
    }

    package let function: Function
    /// The executing line; 0 in a native function.
    package let line: Int

    package init(_ function: Function, line: Int) {
        self.function = function
        self.line = line
    }

    fileprivate init(_ frame: clua_frame) {
        let place = LuaFunctionPlace(frame)
        function = Function(
            name: frame.name.map { String(cString: $0) }, source: place.source, line: max(place.line, 0),
            isNative: place.isNative)
        line = max(Int(frame.line), 0)
    }

    /// The calls of a coroutine, outermost first; only the innermost `limit` of them.
    fileprivate static func all(_ L: OpaquePointer, isRunning: Bool, limit: Int) -> [LuaActiveCall] {
        withUnsafeTemporaryAllocation(of: clua_frame.self, capacity: limit) { frames in
            let count = Int(clua_getcalls(L, isRunning ? 1 : 0, frames.baseAddress, Int32(limit)))
            return frames[..<count].reversed().map(LuaActiveCall.init)
        }
    }
}

extension LuaState {
    /// The active calls, outermost first; only the innermost `limit` of them. Complexity: O(limit²), since Lua finds a
    /// level by walking from the innermost one.
    package func activeCalls(limit: Int) -> [LuaActiveCall] {
        LuaActiveCall.all(current, isRunning: true, limit: limit)
    }
}

extension LuaThread {
    /// The calls of a waiting coroutine, outermost first.
    package func activeCalls(limit: Int) -> [LuaActiveCall] {
        LuaActiveCall.all(L, isRunning: false, limit: limit)
    }
}

extension LuaError {
    /// The end of code at its deadline, with the line that it had reached.
    ///
    /// - Parameters:
    ///   - seconds: the limit, which the message names; nil for a deadline.
    ///   - calls: the active calls, outermost first.
    /// - Returns: the error.
    package static func timeIsUp(limit seconds: Double?, at calls: [LuaActiveCall]) -> LuaError {
        let call = calls.last { $0.line > 0 && $0.function.source != EnvironmentFactory.chunkName }
        let place = call.map { "\($0.function.source):\($0.line): " } ?? ""
        guard let seconds else { return LuaError(.deadline, "\(place)time is up: the deadline has passed") }
        let milliseconds = (seconds * 1_000).rounded() / 1_000
        let limit = Int(exactly: milliseconds).map(String.init) ?? String(milliseconds)
        return LuaError(.deadline, "\(place)time is up: the limit is \(limit) s")
    }
}

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

    /// Reads a referenced object, which is on top of the stack meanwhile.
    @inline(__always)
    func reading<Value>(_ reference: LuaReference, _ body: (OpaquePointer) -> Value) -> Value {
        let L = current
        push(reference, on: L)
        defer { clua_settop(L, -2) }
        return body(L)
    }

    /// Takes the value on top of the stack.
    func popValue(on L: OpaquePointer) -> LuaValue {
        defer { clua_settop(L, -2) }
        return value(at: -1, on: L)
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
