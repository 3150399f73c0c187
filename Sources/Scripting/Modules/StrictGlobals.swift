import Application
import Files
import Lua
import Wording

/// Reading an undefined global is an error with the nearest names; in an entry of a prompt it is a warning, and nil.
/// A script may replace the metatable, or change it, for a strictness of its own. Modules of the LuaRocks trees test for
/// globals of other Lua versions (`unpack or table.unpack`): there it is nil, as in Lua.
enum StrictGlobals {
    static func install(in host: ScriptHost) {
        let state = host.state
        let globals = state.globals
        let metatable = state.makeTable(fields: 2)
        let declaration = LuaFunctionDeclaration("global", [LuaParameter("…", .variadic(.any))])
        let trees = host.options.usesLuaTrees ? LuaTrees.folders.map { "@\(DisplayPath.abbreviate($0))/" } : []
        let index = state.makeFunction(declaration) { [unowned host] call in
            guard let name = call.value(1).textValue else { return call.returns(LuaValue.nil) }
            let isTyped = (host.isRunningEntry || host.scheduler.entry != nil) && isEntry(call)
            // Variables of the prompt may not be set yet.
            if isTyped, isOfPrompt(name) || host.warnedNames.contains(name) { return call.returns(LuaValue.nil) }
            if let source = call.chunkName(ofLevel: 1), trees.contains(where: source.hasPrefix) {
                return call.returns(LuaValue.nil)
            }
            var known: [String] = []
            try globals.forEach { key, _ in
                if let text = key.textValue { known.append(text) }
                return true
            }
            let message = "undefined global '\(name)'\(NearestNames.hint(for: name, among: known))"
            guard isTyped else { throw LuaError(.runtime, message) }
            host.warnedNames.insert(name)
            host.output.putError("warning: \(message)\n")
            return call.returns(LuaValue.nil)
        }
        metatable["__index"] = .function(index)
        globals.setMetatable(metatable)
    }

    /// Whether the reading code is an entry of a prompt: modules that an entry calls stay strict. Entries are named by
    /// their numbers, `[3]`.
    private static func isEntry(_ call: LuaCall) -> Bool {
        // The prompt's table of locals may be in between.
        for level in 1...2 {
            guard let source = call.chunkName(ofLevel: level) else { return false }
            if source.hasPrefix("=["), source.dropFirst(2).prefix(while: \.isNumber).count + 3 == source.count {
                return true
            }
            guard source == "=(scope)" else { return false }
        }
        return false
    }

    /// `_`, `_1`, `_err`, `_PROMPT`.
    private static func isOfPrompt(_ name: String) -> Bool {
        guard name.first == "_" else { return false }
        let rest = name.dropFirst()
        return ["", "err", "PROMPT", "PROMPT2"].contains(rest) || rest.allSatisfy(\.isNumber)
    }
}
