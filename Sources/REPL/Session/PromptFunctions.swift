import Lua
import Scripting

/// The functions that exist only at prompts.
enum PromptFunctions {
    /// Defines `full(x)`.
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "full", [LuaParameter("value", .any, "the value to show")],
            "Shows a value in full; the prompt shortens the results that it prints.",
            example: "full(app:hooks())")
        host.state.setGlobal(declaration) { [unowned host] call in
            host.activePrompt?.show(whole: call.allValues)
            return call.returnsNothing()
        }
    }
}
