import Lua
import Scripting

/// What is known of an expression without running it.
enum Knowledge {
    case unknown
    /// A value that is there now.
    case value(LuaValue)
    /// A value that a declaration promises.
    case type(LuaType)
    /// A function that was declared, and what it belongs to; nil for a global one.
    case function(LuaFunctionDeclaration, owner: LuaDeclaration?)
    /// What a handler of this event is given.
    case event(EventDeclaration)

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

/// Something that can follow a dot or a colon.
struct Member {
    enum Kind { case property, method, function, value }

    let name: String
    let kind: Kind
    /// What is known of it.
    let knowledge: Knowledge
    /// What its declaration says.
    let documentation: String
}
