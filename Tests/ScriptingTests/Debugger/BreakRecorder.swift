import Application
import Lua

@testable import Scripting

/// A front end that answers at once, or runs the event loop for a while.
final class BreakRecorder: DebuggerFrontEnd {
    var canLook = true
    /// The places and titles of the breaks.
    private(set) var breaks: [String] = []
    private(set) var messages: [String] = []
    /// Called at each break; returns how the script resumes.
    var answer: (ScriptBreak) -> LuaDebugger.Resume = { _ in .resume }

    func look(at stop: ScriptBreak) -> LuaDebugger.Resume {
        let call = stop.stop.calls[stop.stop.innermost]
        breaks.append("\(call.source):\(call.line ?? 0)" + (stop.title.map { " \($0)" } ?? ""))
        return answer(stop)
    }

    func show(message: String) { messages.append(message) }

    /// Runs the event loop at a break for a time, or until the break must end.
    static func wait(_ seconds: Double, at stop: ScriptBreak) {
        let end = MonotonicTime.now().advanced(by: seconds)
        while end > .now(), stop.ending == nil {
            let host = stop.host
            let timer = host.loop.after(0.005) {}
            stop.turn()
            timer.cancel()
        }
    }

    /// The text of an expression's value at a break.
    static func value(_ text: String, at stop: ScriptBreak, seconds: Double? = nil) -> String {
        switch stop.evaluate(text, in: stop.stop.innermost, seconds: seconds) {
        case .success(let values): values.map { stop.host.state.describe($0).description }.joined(separator: " ")
        case .failure(let error): "error: \(error.message)"
        }
    }
}
