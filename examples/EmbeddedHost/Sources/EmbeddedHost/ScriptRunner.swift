import Lua

/// Runs scripts within limits: so much memory, so much time, and nothing of the computer.
final class ScriptRunner {
    let state: LuaState
    private let time: Duration

    /// Opens a state with so many bytes for all that scripts hold, and so much time for each script.
    init(memory: Int, time: Duration) throws {
        state = try LuaState(limits: LuaLimits(memory: memory))
        self.time = time
        for name in ["io", "os", "debug"] { state.globals[name] = nil }
        state.interruptHandler = { reason in
            reason.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .resume
        }
    }

    /// The script's results as Lua shows them, or what went wrong.
    func run(_ script: String, name: String) -> String {
        state.setDeadline(time)
        defer { state.setDeadline(nil) }
        do {
            let values = try state.load(script.utf8, name: "=" + name).call()
            return values.map { state.describe($0).description }.joined(separator: "  ")
        } catch {
            return "refused (\(error.kind)): \(error.message)"
        }
    }
}
