/// An error of a Lua state: raised by a script, by the VM, or by a function of the host that a script called.
public struct LuaError: Error, CustomStringConvertible {
    /// What kind of error it is.
    public enum Kind: Equatable, Sendable {
        /// The text is not a Lua chunk; `incomplete` when more lines could complete it.
        case syntax(incomplete: Bool)
        /// A script or a function of the host raised it.
        case runtime
        /// An argument of a host's function does not conform to its declaration.
        case argument
        /// A limit of memory, or the stack's size, was exceeded.
        case memory
        /// Cancelled from outside: Ctrl-C.
        case cancelled
        /// The deadline has passed.
        case deadline
    }

    /// What kind of error it is.
    public var kind: Kind
    /// The message, with its place where known (`chunk:line: …`).
    public var message: String
    /// The call stack at the error, in the format of Lua's `debug.traceback`.
    public var traceback: String?
    /// The calls on the stack at the error, innermost first, if ``LuaState/keepsFrames`` is set.
    public var frames: [LuaFrame] = []
    /// The raised Lua value; nil for an error of Swift's. ``LuaState/value(of:)`` reads it.
    var raised: LuaReference?
    /// The Swift error that a host's function threw.
    public var underlying: (any Error)?

    /// An error to throw from a function of the host.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
