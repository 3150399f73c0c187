import Items
import Lua
import PredicateFormat
import PropertyList

/// A compiled predicate as a Lua object.
final class PredicateValue {
    let predicate: FormatPredicate
    init(_ predicate: FormatPredicate) { self.predicate = predicate }
}

/// `predicate(text, variables)`.
enum PredicateModule {
    static func makeClass(in state: LuaState) -> LuaClass<PredicateValue> {
        LuaClass<PredicateValue>(
            PredicateValue.luaName, "A compiled predicate, for any query.", in: state, kind: .box)
    }

    static func install(_ classes: ItemClasses) -> LuaModule {
        let cls = classes.predicate
        cls.method(
            "evaluate", ["item": "the item"], "Whether the predicate is true for an item.",
            example: "return predicate(\"valueInDollars < 100\"):evaluate(items:randomItem())"
        ) { (value, item: Item) in
            _ = try item.itemKey
            return value.predicate.evaluate { (try? item.value(forField: $0)) ?? nil }
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.predicate.format) }
        let module = LuaModule("predicate", "Predicates in NSPredicate's format language.", in: classes.host.state)
        module.callable(
            ["format": "NSPredicate's format language", "variables": "values for $names"], "Compiles a predicate.",
            example: "return tostring(predicate(\"name == $n\", { n = \"Lamp\" }))"
        ) { [unowned classes] (format: String, variables: LuaTable?) in
            PredicateValue(try compile(format, variables, classes.host.values))
        }
        return module
    }

    /// Compiles a format with the variables of the argument of that name.
    static func compile(_ format: String, _ table: LuaTable?, _ bridge: ValueBridge) throws -> FormatPredicate {
        var variables: PropertyListFields = [:]
        try table?.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaMismatch("a variable's name is text", argument: "variables")
            }
            do throws(ValueBridge.Refusal) { variables[name] = try bridge.propertyList(value, path: name) } catch {
                throw LuaMismatch(error.message, argument: "variables")
            }
            return true
        }
        return try FormatPredicate(format: format, variables: variables)
    }
}

/// A predicate as an argument: a format, a compiled predicate, or a function of the evaluated object.
enum ConditionArgument: LuaRepresentable {
    case format(String), function(LuaFunction), predicate(PredicateValue)

    static var luaType: LuaType { .union([.text, .function, PredicateValue.luaType]) }

    init(lua value: LuaValue) throws(LuaMismatch) {
        switch value {
        case .function(let function): self = .function(function)
        case .userdata: self = .predicate(try PredicateValue(lua: value))
        default: self = .format(try String(lua: value))
        }
    }

    func luaValue(in state: LuaState) -> LuaValue {
        switch self {
        case .format(let text): .text(text)
        case .function(let function): .function(function)
        case .predicate(let predicate): predicate.luaValue(in: state)
        }
    }
}
