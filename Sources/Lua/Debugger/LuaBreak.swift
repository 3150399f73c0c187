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

    /// Maximum numbers of stack frames read: of the innermost, and of the outermost.
    static let callLimits = (inner: 180, outer: 20)

    let state: LuaState
    package internal(set) var reason: Reason
    /// The stack frames, innermost first.
    package private(set) var calls: [LuaBreakCall] = []
    /// The position in `calls` before which stack frames are left out, and their number; nil if all are there.
    package private(set) var gap: (position: Int, count: Int)?

    init(_ state: LuaState, _ reason: Reason) {
        self.state = state
        self.reason = reason
        var place = clua_place_of_call()
        var frame = clua_frame()
        while clua_next_call(state.host, &place, &frame) != 0, let L = place.L {
            calls.append(LuaBreakCall(frame, place, L))
            guard calls.count == Self.callLimits.inner else { continue }
            let skipped = Int(clua_skip_calls(&place, Int32(Self.callLimits.outer)))
            if skipped > 0 { gap = (calls.count, skipped) }
        }
    }

    func end() { calls = [] }

    /// Texts of the calls, with a line for those that are left out: nil stands for them.
    package func lines<Line>(_ line: (Int?) -> Line) -> [Line] {
        var lines = calls.indices.map { line($0) }
        if let gap { lines.insert(line(nil), at: gap.position) }
        return lines
    }

    /// What a list says instead of the calls that are left out.
    package var gapText: String { "… \(gap?.count.counted("more call") ?? "")" }

    /// Whether the script has resumed.
    package var isOver: Bool { calls.isEmpty }

    /// The position of the innermost script function.
    package var innermost: Int { calls.firstIndex { $0.kind != .host } ?? 0 }

    /// The error's value at the break.
    var error: LuaValue {
        let L = state.current
        guard clua_checkstack(L, 2) != 0 else { return .nil }
        clua_pusherror(state.host, L)
        return state.popValue(on: L)
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
        for (read, isUpvalue) in [(clua_get_local as Read, false), (clua_get_upvalue, true)] where found == nil {
            each(call, read) { name, slot, value in
                if name == wanted { found = Variable(name: name, value: value(), slot: slot, isUpvalue: isUpvalue) }
            }
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

/// What a text at a break may be.
package enum LuaBreakText: Sendable {
    /// An expression or statements, whose assignments set the function's variables.
    case entry
    /// An expression: a condition, a part of a message, a watch. It cannot assign to variables.
    case expression
}

/// Compiles Lua text in a function's scope.
extension LuaBreak {
    /// Compiles a text, as an expression if it is one, with access to a function's local variables, then its upvalues,
    /// then its globals. An assignment sets the variable.
    ///
    /// - Parameters:
    ///   - text: an expression or statements.
    ///   - call: the function's position in `calls`.
    ///   - kind: what the text may be.
    ///   - name: the chunk name for messages, in Lua's notation.
    /// - Returns: the compiled function; its arguments are `varargs(of:)`.
    /// - Throws: an error of kind `syntax`.
    package func compile(
        _ text: String, in call: Int, as kind: LuaBreakText = .entry, name: String = "=(break)"
    ) throws(LuaError) -> LuaFunction {
        switch kind {
        case .entry: try state.loadEntry(text, name: name, environment: environment(of: call, assigns: true))
        case .expression:
            try state.loadExpression(text, name: name, environment: environment(of: call, assigns: false))
        }
    }

    /// The variables of a function as a table of globals; after the break, only its globals.
    private func environment(of call: Int, assigns: Bool) -> LuaTable {
        let globals = variable("_ENV", of: call)?.value ?? .table(state.globals)
        let (environment, metatable) = (state.makeTable(), state.makeTable())
        metatable["__index"] = owned { [self] access in
            let key = access.value(1)
            if let name = key.textValue, let found = variable(name, of: call) { return access.returns(found.value) }
            guard case .table(let globals) = globals else { return access.returns(LuaValue.nil) }
            return access.returns(try globals.get(key))
        }
        metatable["__newindex"] = owned { [self] access in
            let (key, value) = (access.value(1), access.value(2))
            guard assigns else {
                throw LuaError(.runtime, "'\(key.textValue ?? "?")' is not assigned here: this only looks")
            }
            if let name = key.textValue, let found = variable(name, of: call) {
                set(found, of: call, to: value)
            } else if case .table(let globals) = globals {
                try globals.set(key, value)
            }
            return access.returnsNothing()
        }
        environment.setMetatable(metatable)
        return environment
    }

    /// A native function owned by Lua.
    private func owned(_ body: @escaping (LuaCall) throws -> LuaResults) -> LuaValue {
        let L = state.current
        guard clua_checkstack(L, 6) != 0 else { return .nil }
        clua_pushownedfunction(L, Unmanaged.passRetained(LuaNativeFunction(body: body)).toOpaque())
        return .function(LuaFunction(state: state, reference: state.takeReference(on: L)))
    }
}

extension LuaState {
    /// Compiles a text as one expression. A comment may follow it.
    ///
    /// - Throws: an error of kind `syntax`, which says that it is not an expression, or `memory`.
    package func loadExpression(_ text: String, name: String, environment: LuaTable?) throws(LuaError) -> LuaFunction {
        do throws(LuaError) {
            // The parentheses refuse a second expression, and the text alone refuses one that closes them.
            _ = try load(Array("return (\(text)\n)".utf8), name: name)
            return try load(Array("return \(text)".utf8), name: name, environment: environment)
        } catch {
            guard case .syntax = error.kind else { throw error }
            var error = error
            let reason = error.message.split(separator: ": ", maxSplits: 1).last ?? ""
            error.message = "'\(text)' is not an expression: \(reason)"
            throw error
        }
    }

    /// Compiles a text as an expression that returns its values, or if it is none, as a block.
    ///
    /// - Throws: an error of kind `syntax` or `memory`.
    package func loadEntry(_ text: String, name: String, environment: LuaTable?) throws(LuaError) -> LuaFunction {
        // `return` is on the same line, to keep the line numbers.
        do throws(LuaError) {
            return try load(Array("return \(text)".utf8), name: name, environment: environment)
        } catch {
            return try load(Array(text.utf8), name: name, environment: environment)
        }
    }
}

/// A stack frame at a break.
package struct LuaBreakCall {
    /// The function's kind.
    package enum Kind: Sendable {
        /// The main function of a chunk.
        case chunk
        /// A function of a script.
        case function
        /// A function of the host or of Lua's libraries.
        case host
    }

    package let kind: Kind
    /// The chunk's name as in error messages; `[C]` for a function of the host.
    package let source: String
    /// The full name of the chunk, without its mark.
    package let chunk: String
    /// The current line; nil for a function of the host.
    package let line: Int?
    /// The name by which it was called; nil if the call has none.
    package let name: String?
    /// The first line of its definition.
    package let definedAt: Int
    /// The number of its coroutine, counted from 0 for the innermost.
    package let coroutine: Int
    /// Valid only during the break.
    let L: OpaquePointer
    let level: Int32

    init(_ frame: clua_frame, _ place: clua_place_of_call, _ L: OpaquePointer) {
        kind = frame.isC != 0 ? .host : frame.isMain != 0 ? .chunk : .function
        source = LuaFunctionPlace(frame).source
        chunk = clua_getsource(L, place.level).map { String(cString: $0.advanced(by: 1)) } ?? source
        line = frame.line > 0 ? Int(frame.line) : nil
        name = frame.name.map { String(cString: $0) }
        definedAt = Int(frame.definedAt)
        coroutine = Int(place.coroutine)
        self.L = L
        level = place.level
    }

    /// Its name, or the place of its definition.
    package var title: String {
        switch kind {
        case .chunk: "chunk"
        case .function: name ?? "function <\(source):\(definedAt)>"
        case .host: name ?? "?"
        }
    }
}
