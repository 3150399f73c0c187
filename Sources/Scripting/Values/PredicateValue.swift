package import Lua
package import PredicateFormat
import PropertyList

/// A compiled predicate as a Lua object.
package final class PredicateValue {
    package let predicate: FormatPredicate
    package init(_ predicate: FormatPredicate) { self.predicate = predicate }

    /// Compiles a format with the variables of the argument of that name.
    package static func compile(_ format: String, _ table: LuaTable?, _ bridge: ValueBridge) throws -> FormatPredicate {
        var variables: PropertyListFields = [:]
        try table?.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaMismatch("a variable's name is text", argument: "variables")
            }
            do throws(ValueBridge.BridgeError) { variables[name] = try bridge.propertyList(value, path: name) } catch {
                throw LuaMismatch(error.message, argument: "variables")
            }
            return true
        }
        return try FormatPredicate(format: format, variables: variables)
    }
}

/// A predicate as an argument: a format, a compiled predicate, or a function of the evaluated object.
package enum ConditionArgument: LuaRepresentable {
    case format(String), function(LuaFunction), predicate(PredicateValue)

    package static var luaType: LuaType { .union([.text, .function, PredicateValue.luaType]) }

    package init(lua value: LuaValue) throws(LuaMismatch) {
        switch value {
        case .function(let function): self = .function(function)
        case .userdata: self = .predicate(try PredicateValue(lua: value))
        default: self = .format(try String(lua: value))
        }
    }

    package func luaValue(in state: LuaState) -> LuaValue {
        switch self {
        case .format(let text): .text(text)
        case .function(let function): .function(function)
        case .predicate(let predicate): predicate.luaValue(in: state)
        }
    }
}
