internal import CLuaShim

/// Compiles Lua text in a function's scope.
extension LuaBreak {
    /// Compiles a text, as an expression if it is one, with access to a function's local variables, then its upvalues,
    /// then its globals. An assignment sets the variable.
    ///
    /// - Parameters:
    ///   - text: an expression or statements.
    ///   - call: the function's position in `calls`.
    ///   - name: the chunk name for messages, in Lua's notation.
    /// - Returns: the compiled function; its arguments are `varargs(of:)`.
    /// - Throws: an error of kind `syntax`.
    package func compile(_ text: String, in call: Int, name: String = "=(break)") throws(LuaError) -> LuaFunction {
        try state.loadEntry(text, name: name, environment: environment(of: call))
    }

    /// The variables of a function as a table of globals; after the break, only its globals.
    private func environment(of call: Int) -> LuaTable {
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
