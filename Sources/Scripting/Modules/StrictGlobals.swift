import Lua

/// Reading a global that nothing assigned is an error with the nearest names; at a prompt it is a warning, and nil.
enum StrictGlobals {
    static func install(in host: ScriptHost) {
        let state = host.state
        let globals = state.globals
        let metatable = state.makeTable(fields: 2)
        let declaration = LuaFunctionDeclaration("global", [LuaParameter("…", .variadic(.any))])
        let isInteractive = host.options.isInteractive
        let index = state.makeFunction(declaration) { [unowned host] call in
            guard let name = call.value(1).textValue else { return call.returns(LuaValue.nil) }
            // What the prompt sets by and by: no result yet is no mistake.
            if isInteractive, isOfPrompt(name) { return call.returns(LuaValue.nil) }
            var known: [String] = []
            try globals.forEach { key, _ in
                if let text = key.textValue { known.append(text) }
                return true
            }
            let message = "undefined global '\(name)'\(NearestNames.hint(for: name, among: known))"
            guard isInteractive else { throw LuaError(.runtime, message) }
            host.output.writeError("warning: \(message)\n")
            return call.returns(LuaValue.nil)
        }
        metatable.rawSet("__index", .function(index))
        metatable.rawSet("__metatable", false)
        globals.setMetatable(metatable)
    }

    /// `_`, `_1`, `_err`, `_PROMPT`.
    private static func isOfPrompt(_ name: String) -> Bool {
        guard name.first == "_" else { return false }
        let rest = name.dropFirst()
        return ["", "err", "PROMPT", "PROMPT2"].contains(rest) || rest.allSatisfy(\.isNumber)
    }
}
