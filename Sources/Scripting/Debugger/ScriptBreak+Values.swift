package import Lua

/// Values at a break, read by code whose time is limited: an accessor of a script may not end.
extension ScriptBreak {
    /// Calls a function of one expression over its arguments.
    ///
    /// - Parameters:
    ///   - expression: Lua text in which `...` is the arguments: `tostring(...)`.
    ///   - arguments: the arguments.
    /// - Returns: its first value, or its error.
    package func value(of expression: String, _ arguments: LuaValue...) -> Result<LuaValue, LuaError> {
        let outer = host.foreground
        // Ctrl-C stops this alone.
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
