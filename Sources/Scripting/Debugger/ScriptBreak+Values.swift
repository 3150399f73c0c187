package import Lua

/// Reads values at a break by code with a time limit: a script's accessor may never end.
extension ScriptBreak {
    /// Evaluates an expression of some arguments.
    ///
    /// - Parameters:
    ///   - expression: Lua text in which `...` stands for the arguments: `tostring(...)`.
    ///   - arguments: the arguments.
    /// - Returns: its first value, or its error.
    package func value(of expression: String, _ arguments: LuaValue...) -> Result<LuaValue, LuaError> {
        let outer = host.foreground
        // Ctrl-C stops only this evaluation.
        defer { host.foreground = outer }
        do throws(LuaError) {
            let function = try host.state.load(Array("return \(expression)".utf8), name: "=(debugger)")
            host.foreground = nil
            let task = host.scheduler.start(
                function, arguments, seconds: ScriptDebugger.evaluationLimit, generation: 0)
            host.foreground = task
            return host.scheduler.finish(task).map { $0.first ?? .nil }
        } catch {
            return .failure(error)
        }
    }
}
