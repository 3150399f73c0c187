import Items
import Lua
import PropertyList

/// `json`: encode and decode.
enum JSONModule {
    static func install(_ classes: ItemClasses) -> LuaModule {
        let bridge = classes.host.values
        let module = LuaModule(
            "json", "JSON. null represents null; dates are written in ISO 8601, data in Base64.", in: bridge.state)
        module.function(
            "encode",
            [
                LuaParameter(
                    "value", .any,
                    "text, a number, a boolean, null, a date, data, a table of these, an item, or a query: an array of its items"
                ),
                LuaParameter(
                    "options", .optional(.options([LuaParameter("pretty", .boolean, "indent the text")])),
                    "options for encoding"),
            ], returns: [.string],
            "Encodes a value as JSON with sorted keys. Raises an error if JSON cannot represent it.",
            example: "return json.encode({ name = \"Bear\", tags = { \"gift\" } })"
        ) { [unowned classes] call in
            if let json = try items(call, classes) { return call.returns(LuaString(json)) }
            let value: PropertyListValue
            do throws(ValueBridge.Refusal) { value = try bridge.propertyList(call.value(0)) } catch {
                throw call.refuse(0, error.message)
            }
            let isPretty = try call.option("pretty", of: 1).isTruthy
            do throws(JSONError) { return call.returns(LuaString(try value.json(isPretty: isPretty))) } catch {
                throw call.refuse(0, error.message)
            }
        }
        module.function(
            "decode", [LuaParameter("text", .string, "JSON in UTF-8")], returns: LuaType.orError(.any),
            "Decodes a JSON text; nil and an error if it is invalid.",
            example: "return json.decode('[1, 2.5, null]')[2]"
        ) { call in
            let bytes = try call.bytes(0)
            let value: PropertyListValue
            do throws(JSONError) { value = try PropertyListValue(json: bytes) } catch {
                return call.returns(failure: ScriptError("invalidJSON", error.message))
            }
            return call.returns(try bridge.lua(value))
        }
        return module
    }

    /// The JSON of an item or a query; nil for any other value.
    private static func items(_ call: LuaCall, _ classes: ItemClasses) throws -> [UInt8]? {
        let isPretty = try call.option("pretty", of: 1).isTruthy
        if let item = call.optionalObject(0, classes.item) { return try item.json(isPretty: isPretty) }
        guard let query = call.optionalObject(0, classes.query)?.query else { return nil }
        var options = ItemFileOptions(format: .json)
        return try ItemFilesBinding.work(&options, "Encoding", showsBar: false, on: classes.host) {
            try query.json($0, isPretty: isPretty)
        }
    }
}
