import Lua

/// The function `breakpoint`, which breaks at its call.
enum BreakpointFunction {
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "breakpoint", [],
            "Breaks here, so that variables can be examined; at the prompt, `:help` then lists the commands of a break. Without a prompt or a debugger the script continues, and one warning for the line is logged.",
            example: "local total = 40 breakpoint() return total")
        host.state.setGlobal(declaration) { [unowned host] call in
            if host.debugger.canBreak {
                host.debugger.core.breakNow(call)
            } else {
                host.debugger.passOver(call.place(ofLevel: 1) ?? "?")
            }
            return call.returnsNothing()
        }
    }
}
