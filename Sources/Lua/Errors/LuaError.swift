/// An error of a Lua state: raised by a script, by the VM, or by a function of the host that a script called.
public struct LuaError: Error, CustomStringConvertible {
    public enum Kind: Equatable, Sendable {
        /// The text is no Lua chunk; `incomplete` when more lines could make it one.
        case syntax(incomplete: Bool)
        case runtime
        /// A function of the host was called with an argument that its declaration does not take.
        case argument
        case memory
        /// Stopped from outside: Ctrl-C.
        case cancelled
        /// Stopped because its time was up.
        case deadline
    }

    public var kind: Kind
    /// What happened, with the place where it is known (`chunk:line: …`).
    public var message: String
    /// The call stack where the error was raised, as Lua's own `debug.traceback` writes it.
    public var traceback: String?
    /// The Lua value that was raised; nil for an error that Swift made. `LuaState.value(of:)` reads it.
    public var raised: LuaReference?
    /// The Swift error behind it: the very one that a function of the host threw.
    public var underlying: (any Error)?

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
