package import Lua

/// What shows breaks to the user: a prompt, or the client of a debug adapter.
package protocol DebuggerFrontEnd: AnyObject {
    /// Whether the user can be asked now.
    var canLook: Bool { get }
    /// Lets the user look at a script that stands still. It serves events by `ScriptBreak.turn()`, and returns when the
    /// user is done, or when the break has an `ending`.
    func look(at stop: ScriptBreak) -> LuaDebugger.Resume
    /// Shows the message of a breakpoint.
    func show(message: String)
}
