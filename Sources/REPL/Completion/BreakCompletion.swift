package import LineEditor
import Lua
package import Scripting

/// Completes Lua text in a function at a break: its variables come first.
package struct BreakCompletion {
    private let completer: Completer
    private let names: Set<String>

    /// - Parameters:
    ///   - host: the host of the script.
    ///   - stop: the break.
    ///   - call: the function's position among the calls.
    package init(_ host: ScriptHost, at stop: ScriptBreak, in call: Int) {
        self.init(host, at: stop, in: call, FunctionTexts(host))
    }

    /// The same with a prompt's texts of functions.
    init(_ host: ScriptHost, at stop: ScriptBreak, in call: Int, _ functions: FunctionTexts) {
        let variables = stop.stop.upvalues(of: call) + stop.stop.locals(of: call)
        let locals = host.state.makeTable()
        for variable in variables { locals[variable.name] = variable.value }
        names = Set(variables.map(\.name))
        completer = Completer(host: host, locals: locals, functions: functions)
    }

    /// The candidates at a cursor, an offset in bytes; nil without any.
    package func complete(_ text: String, _ cursor: Int) -> CompletionResult? {
        guard let found = completer.complete(text, cursor) else { return nil }
        let own = found.candidates.filter { names.contains($0.text) }
        let others = found.candidates.filter { !names.contains($0.text) }
        return CompletionResult(replacement: found.replacement, candidates: own + others)
    }
}
