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
        LuaClass<PredicateValue>("Predicate", "A compiled predicate, for any query.", in: state, kind: .box)
    }

    static let parameters = [
        LuaParameter("format", .text, "NSPredicate's format language"),
        LuaParameter("variables", .optional(.table), "values for $names"),
    ]

    static func install(_ classes: ItemClasses) -> LuaModule {
        let cls = classes.predicate
        cls.method(
            "evaluate", [LuaParameter("item", .object("Item"), "which item")], returns: [.boolean],
            "Whether it holds for an item.",
            example: "return predicate(\"valueInDollars < 100\"):evaluate(items:randomItem())"
        ) {
            [unowned classes] value, call in
            let item = try call.object(0, classes.item)
            _ = try item.itemKey
            return call.returns(value.predicate.evaluate { (try? item.value(forField: $0)) ?? nil })
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.predicate.format) }
        let module = LuaModule("predicate", "Predicates in NSPredicate's format language.", in: classes.host.state)
        module.callable(
            parameters, returns: [.object("Predicate")], "Compiles a predicate.",
            example: "return tostring(predicate(\"name == $n\", { n = \"Lamp\" }))"
        ) { [unowned classes] call in
            call.returns(PredicateValue(try compile(call, 0, classes.host.values)), cls)
        }
        return module
    }

    /// Compiles the format at a position, with the variables in the next argument.
    static func compile(_ call: LuaCall, _ position: Int, _ bridge: ValueBridge) throws -> FormatPredicate {
        var variables: [String: PropertyListValue] = [:]
        if case .table(let table) = call.value(position + 1) {
            try table.forEach { key, value in
                guard let name = key.textValue else { throw call.refuse(position + 1, "a variable's name is text") }
                do throws(ValueBridge.Refusal) { variables[name] = try bridge.propertyList(value, path: name) } catch {
                    throw call.refuse(position + 1, error.message)
                }
                return true
            }
        }
        return try FormatPredicate(format: try call.text(position), variables: variables)
    }
}
