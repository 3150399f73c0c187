@testable import Lua

/// A state whose breaks are recorded and answered in turn.
final class DebugTrial {
    let fixture: Fixture
    var state: LuaState { fixture.state }
    var debugger: LuaDebugger { fixture.state.debugger }
    /// The breaks: `step 3 f`, the function's name last.
    private(set) var breaks: [String] = []
    /// The answers; when none is left, scripts resume.
    var answers: [LuaDebugger.Resume] = []
    /// Called at each break.
    var look: (LuaBreak) -> Void = { _ in }

    init() throws {
        fixture = try Fixture()
        let state = fixture.state
        state.globals["breakpoint"] = .function(
            state.makeFunction(LuaFunctionDeclaration("breakpoint")) { call in
                call.state.debugger.breakNow(call)
                return call.returnsNothing()
            })
        debugger.onBreak = { [unowned self] stop in
            breaks.append(Self.text(stop))
            look(stop)
            return answers.isEmpty ? .resume : answers.removeFirst()
        }
    }

    private static func text(_ stop: LuaBreak) -> String {
        let call = stop.calls[stop.innermost]
        let reason =
            switch stop.reason {
            case .call: "call"
            case .breakpoint(let breakpoint, let failure): "\(breakpoint.number)\(failure == nil ? "" : "!")"
            case .step: "step"
            case .error: "error"
            }
        return "\(reason) \(call.line ?? 0) \(call.title)"
    }

    /// Runs a chunk, as a coroutine of the host or by a call, and returns its error.
    @discardableResult
    func run(_ script: String, inThread: Bool = true, name: String = "@main.lua") -> LuaError? {
        do throws(LuaError) {
            let chunk = try state.load(script.utf8, name: name)
            if inThread { _ = try state.makeThread(chunk).resume() } else { _ = try chunk.call() }
            return nil
        } catch { return error }
    }

    /// An expression's value in a function, by default the innermost.
    func value(_ text: String, in stop: LuaBreak, at call: Int? = nil) -> String {
        let call = call ?? stop.innermost
        do throws(LuaError) {
            let values = try stop.compile(text, in: call).call(arguments: stop.varargs(of: call))
            return values.map { state.describe($0).description }.joined(separator: " ")
        } catch { return "error: \(error.message)" }
    }
}
