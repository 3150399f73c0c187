internal import CLuaShim

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
