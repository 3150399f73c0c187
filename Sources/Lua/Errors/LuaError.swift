/// An error of a Lua state: raised by a script, by the VM, or by a function of the host that a script called.
public struct LuaError: Error, CustomStringConvertible {
    /// The kind of an error.
    public enum Kind: Equatable, Sendable {
        /// The text is not a Lua chunk; `incomplete` when more lines could complete it.
        case syntax(incomplete: Bool)
        /// Raised by a script or a host function.
        case runtime
        /// An argument of a host function does not conform to its declaration.
        case argument
        /// A memory limit or the stack size was exceeded.
        case memory
        /// Cancelled from outside, as by Ctrl-C.
        case cancelled
        /// The deadline has passed.
        case deadline
        /// A script wrote more than ``LuaLimits/output``.
        case output
        /// Calls nested deeper than ``LuaLimits/callDepth``.
        case callDepth
    }

    /// The kind of this error.
    public var kind: Kind
    /// The message, with its position if known (`chunk:line: …`).
    public var message: String
    /// The call stack at the error, in the format of Lua's `debug.traceback`.
    public var traceback: String?
    /// The calls on the stack at the error, innermost first, if ``LuaState/keepsFrames`` is set.
    public var frames: [LuaFrame] = []
    /// The raised Lua value; nil for a Swift error. ``LuaState/value(of:)`` reads it.
    var raised: LuaReference?
    /// The Swift error thrown by a host function.
    public var underlying: (any Error)?

    /// Creates an error to be thrown by a host function.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
