import Lua
import Scripting

/// The functions that exist only at prompts.
enum PromptFunctions {
    /// Defines `full(x)`.
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "full", [LuaParameter("value", .any, "what is shown")],
            "Shows a value whole, however long it is; the prompt cuts what it prints by itself.",
            example: "full(app:hooks())")
        host.state.setGlobal(declaration) { [unowned host] call in
            host.activePrompt?.show(whole: call.allValues)
            return call.returnsNothing()
        }
    }
}
