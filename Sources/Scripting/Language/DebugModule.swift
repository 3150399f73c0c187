import Lua

/// What people's test helpers and libraries take of `debug`, as far as it opens nothing: the metatables of a script's own
/// tables, which `getmetatable` and `setmetatable` give as well.
enum DebugModule {
    static func install(in host: ScriptHost) {
        let state = host.state
        guard case .table(let debug) = state.globals["debug"],
            case .function(let getter) = state.globals["getmetatable"],
            case .function(let setter) = state.globals["setmetatable"]
        else { return }
        let value = LuaParameter("value", .any, "any value")
        debug["getmetatable"] = .function(
            state.makeFunction(
                LuaFunctionDeclaration("getmetatable", [value]), owner: "debug.", base: 1, ignoresSurplus: true
            ) { call in
                // A protected one is false, or what its owner shows.
                guard case .table = call.value(0), case .table(let metatable)? = try getter.call(call.value(0)).first
                else { return call.returns(LuaValue.nil) }
                return call.returns(LuaValue.table(metatable))
            })
        debug["setmetatable"] = .function(
            state.makeFunction(
                LuaFunctionDeclaration("setmetatable", [value, LuaParameter("metatable", .optional(.table))]),
                owner: "debug.", base: 1, ignoresSurplus: true
            ) { call in
                guard case .table = call.value(0) else {
                    throw LuaError(
                        .argument, "debug.setmetatable takes a script's own table here, got \(call.value(0).typeName)")
                }
                return try call.returns(values: setter.call(call.value(0), call.value(1)))
            })
    }
}
