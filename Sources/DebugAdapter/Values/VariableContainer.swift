import Lua

/// A set of variables that the client expands during a break.
struct VariableContainer {
    enum Kind {
        /// The local variables of a call, and its variable arguments.
        case locals
        case upvalues
        case value(LuaValue)
    }

    let kind: Kind
    /// The call in which it is visible.
    let call: Int
    /// The expression for a value; nil if there is none.
    var expression: String?
}

/// A variable for the client.
struct DebugVariable {
    var name: String
    var value: LuaValue
    /// The expression for it; nil if there is none.
    var expression: String?
    /// The text shown instead of the value: why it cannot be read.
    var text: String?
}
