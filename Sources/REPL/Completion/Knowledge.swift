import Lua
import Scripting

/// The static knowledge of an expression.
enum Knowledge {
    case unknown
    /// An existing value.
    case value(LuaValue)
    /// A value of a declared type.
    case type(LuaType)
    /// A declared function and its owner; nil for a global one.
    case function(LuaFunctionDeclaration, owner: LuaDeclaration?)
    /// The argument of this event's handlers.
    case event(EventDeclaration)

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

/// A member, after a dot or a colon.
struct Member {
    enum Kind { case property, method, function, value }

    let name: String
    let kind: Kind
    /// Its static knowledge.
    let knowledge: Knowledge
    /// Its declared documentation.
    let documentation: String
}
