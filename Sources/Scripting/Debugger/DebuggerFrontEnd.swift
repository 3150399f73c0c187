package import Lua

/// Shows breaks to the user: a prompt, or the client of a debug adapter.
package protocol DebuggerFrontEnd: AnyObject {
    /// Whether a break can be shown now.
    var canLook: Bool { get }
    /// Lets the user examine a paused script. Serves events by `ScriptBreak.turn()`, and returns when the user resumes
    /// the script, or the break has an `ending`.
    func look(at stop: ScriptBreak) -> LuaDebugger.Resume
    /// Shows the message of a breakpoint.
    func show(message: String)
}
