@testable import Lua

extension Fixture {
    /// Has the state's code end at a deadline and at a cancellation, with a name in the error's text.
    func stops(_ name: String = "state") {
        state.interruptHandler = { reasons in
            if reasons.contains(.deadline) { return .stop(LuaError(.deadline, "\(name): time is up"), depth: 1) }
            if reasons.contains(.cancel) { return .stop(LuaError(.cancelled, "\(name): cancelled"), depth: 1) }
            return .resume
        }
    }

    /// Runs a script; the message of the error that it ended with, or nil.
    func failure(of script: String, deadline: Double? = nil) -> String? {
        if let deadline { state.setDeadline(seconds: deadline) }
        defer { if deadline != nil { state.setDeadline(nil) } }
        do {
            try run(script)
            return nil
        } catch {
            return (error as? LuaError)?.message ?? "\(error)"
        }
    }

    /// Declares a global function without arguments.
    func declare(_ name: String, _ body: @escaping (LuaCall) throws -> Void) {
        let function = state.makeFunction(LuaFunctionDeclaration(name, [])) { call in
            try body(call)
            return call.returnsNothing()
        }
        state.globals[name] = .function(function)
    }
}
