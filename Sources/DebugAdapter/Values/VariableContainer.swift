import Lua

/// What the client unfolds by a number, while the script stands at a break.
struct VariableContainer {
    enum Kind {
        /// The local variables of a call, and its extra arguments.
        case locals
        case upvalues
        case value(LuaValue)
    }

    let kind: Kind
    /// The call in which it is seen.
    let call: Int
    /// The expression for a value; nil where there is none.
    var expression: String?
}

/// A variable for the client.
struct DebugVariable {
    var name: String
    var value: LuaValue
    /// The expression for it; nil where there is none.
    var expression: String?
    /// A text in the place of the value's: the reason why it cannot be read.
    var text: String?
}
