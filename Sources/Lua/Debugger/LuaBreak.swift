internal import CLuaShim

/// A paused script: its stack frames and their variables.
///
/// The break is over when the script resumes: it then has no frames, and no variable is found.
package final class LuaBreak {
    /// Why the script is paused.
    package enum Reason {
        /// It called `breakpoint()`.
        case call
        /// A breakpoint, and the error of its condition, if that failed.
        case breakpoint(LuaBreakpoint, failure: LuaError?)
        /// A step has ended.
        case step
        /// An error is about to unwind the stack.
        case error(LuaValue)
    }

    /// A variable of a function.
    package struct Variable {
        package let name: String
        package let value: LuaValue
        let slot: Int32
        let isUpvalue: Bool
    }

    /// Maximum number of stack frames read.
    static let callLimit = 200

    let state: LuaState
    package internal(set) var reason: Reason
    /// The stack frames, innermost first.
    package private(set) var calls: [LuaBreakCall] = []

    init(_ state: LuaState, _ reason: Reason) {
        self.state = state
        self.reason = reason
        var place = clua_place_of_call()
        var frame = clua_frame()
        while calls.count < Self.callLimit, clua_next_call(state.host, &place, &frame) != 0, let L = place.L {
            calls.append(LuaBreakCall(frame, place, L))
        }
    }

    func end() { calls = [] }

    /// Whether the script has resumed.
    package var isOver: Bool { calls.isEmpty }

    /// The position of the innermost script function.
    package var innermost: Int { calls.firstIndex { $0.kind != .host } ?? 0 }

    /// The error's value at the break.
    var error: LuaValue {
        let L = state.current
        guard clua_checkstack(L, 2) != 0 else { return .nil }
        clua_pusherror(state.host, L)
        defer { clua_settop(L, -2) }
        return state.value(at: -1, on: L)
    }

    // MARK: Variables

    /// The local variables of a function in declaration order, without shadowed ones and temporaries.
    package func locals(of call: Int) -> [Variable] {
        var found: [Variable] = []
        each(call, clua_get_local) { name, slot, value in
            guard !name.hasPrefix("(") else { return }
            found.removeAll { $0.name == name }
            found.append(Variable(name: name, value: value(), slot: slot, isUpvalue: false))
        }
        return found
    }

    /// The named upvalues of a function, without `_ENV`.
    package func upvalues(of call: Int) -> [Variable] {
        var found: [Variable] = []
        each(call, clua_get_upvalue) { name, slot, value in
            guard name != "_ENV", !name.isEmpty else { return }
            found.append(Variable(name: name, value: value(), slot: slot, isUpvalue: true))
        }
        return found
    }

    /// The variable arguments of a function: `...`.
    package func varargs(of call: Int) -> [LuaValue] {
        var found: [LuaValue] = []
        each(call, { L, level, n, to in clua_get_local(L, level, -n, to) }) { _, _, value in found.append(value()) }
        return found
    }

    /// The local variable or upvalue with a name in a function; nil for a global.
    func variable(_ wanted: String, of call: Int) -> Variable? {
        var found: Variable?
        each(call, clua_get_local) { name, slot, value in
            if name == wanted { found = Variable(name: name, value: value(), slot: slot, isUpvalue: false) }
        }
        if found != nil { return found }
        each(call, clua_get_upvalue) { name, slot, value in
            if name == wanted { found = Variable(name: name, value: value(), slot: slot, isUpvalue: true) }
        }
        return found
    }

    /// Assigns a variable of a function.
    package func set(_ variable: Variable, of call: Int, to value: LuaValue) {
        guard calls.indices.contains(call) else { return }
        let (at, L) = (calls[call], state.current)
        guard clua_checkstack(L, 2) != 0 else { return }
        let top = clua_gettop(L)
        state.push(value, on: L)
        _ =
            variable.isUpvalue
            ? clua_set_upvalue(at.L, at.level, variable.slot, L) : clua_set_local(at.L, at.level, variable.slot, L)
        clua_settop(L, top)
    }

    private typealias Read = (OpaquePointer?, Int32, Int32, OpaquePointer?) -> UnsafePointer<CChar>?

    /// Calls the body with each name, its slot, and a closure that reads its value.
    private func each(_ call: Int, _ read: Read, _ body: (String, Int32, () -> LuaValue) -> Void) {
        guard calls.indices.contains(call) else { return }
        let (at, L) = (calls[call], state.current)
        let top = clua_gettop(L)
        var slot: Int32 = 1
        while clua_checkstack(L, 4) != 0, let name = read(at.L, at.level, slot, L) {
            body(String(cString: name), slot) { state.value(at: top + 1, on: L) }
            clua_settop(L, top)
            slot += 1
        }
    }
}
