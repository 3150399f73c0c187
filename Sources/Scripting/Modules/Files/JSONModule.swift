import Lua
import PropertyList

/// `json`: encode and decode.
enum JSONModule {
    static func install(_ bridge: ValueBridge) -> LuaModule {
        let module = LuaModule(
            "json", "JSON. null stands for null; dates are written as ISO 8601, data as Base64.", in: bridge.state)
        module.function(
            "encode",
            [
                LuaParameter("value", .any, "text, a number, a boolean, null, a date, data, or a table of these"),
                LuaParameter(
                    "options", .optional(.options([LuaParameter("pretty", .boolean, "indented, keys in order")])),
                    "how it is written"),
            ], returns: [.string], "A value as JSON; keys are sorted. Raises when it is no JSON value.",
            example: "return json.encode({ name = \"Bear\", tags = { \"gift\" } })"
        ) { call in
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
            "The value of a JSON text; nil and an error when it is none.",
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
}
