import Items
import Logging
import Lua
import PropertyList
package import Scripting
import Wording

/// `json`: encode and decode.
package enum JSONModule: ScriptModule {
    package static let name = "json"
    package static let needs = ["items"]

    package static func declare(in host: ScriptHost) throws -> [Global] {
        let bridge = host.values
        let (item, query) = (try host.declaredClass(of: Item.self), try host.declaredClass(of: ItemQuery.self))
        var hasWarned = false
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
            ], returns: LuaType.orError(.string),
            "Encodes a value as JSON with sorted keys, dates and numbers with all digits. Raises an error with the path of a value that JSON cannot represent, such as NaN; for items nil and an error that names item and field.",
            example: "return json.encode({ name = \"Bear\", tags = { \"gift\" } })"
        ) { [unowned host] call in
            do {
                if let json = try items(call, item, query, host) { return call.returns(LuaString(json)) }
            } catch let error as StoreError where !error.code.isProgrammerError {
                return call.returns(failure: error)
            }
            let value: PropertyListValue
            do throws(ValueBridge.BridgeError) { value = try bridge.propertyList(call.value(0)) } catch {
                throw call.refuse(0, error.message)
            }
            let isPretty = try call.option("pretty", of: 1).isTruthy
            do throws(JSONError) { return call.returns(LuaString(try value.json(isPretty: isPretty))) } catch {
                throw call.refuse(0, error.message)
            }
        }
        module.function(
            "decode", [LuaParameter("text", .string, "JSON in UTF-8")], returns: LuaType.orError(.any),
            "Decodes a JSON text; nil and an error with line and column if it is invalid. Integers are exact up to 128 bits (beyond 64 bits a WideInteger); larger ones, NaN and reals out of range are errors. Of equal keys in an object the last counts, which the log says once.",
            example: "return json.decode('[1, 2.5, null]')[2]"
        ) { [unowned host] call in
            let bytes = try call.bytes(0)
            let value: PropertyListValue
            var repeated = RepeatedKeys()
            do throws(JSONError) { value = try PropertyListValue(json: bytes, repeated: &repeated) } catch {
                return call.returns(failure: ScriptError("invalidJSON", error.message))
            }
            if let key = repeated.first, !hasWarned {
                hasWarned = true
                host.logger.warning(
                    "json.decode: \(repeated.count.counted("key")) more than once in an object, the first \(key.quoted()); the last value counts (said once)"
                )
            }
            return call.returns(try bridge.lua(value))
        }
        return [module.global]
    }

    /// The JSON of an item or a query; nil for any other value.
    private static func items(
        _ call: LuaCall, _ items: LuaClass<Item>, _ queries: LuaClass<ItemQuery>, _ host: ScriptHost
    ) throws -> [UInt8]? {
        let isPretty = try call.option("pretty", of: 1).isTruthy
        if let item = call.optionalObject(0, items) { return try item.json(isPretty: isPretty) }
        guard let query = call.optionalObject(0, queries) else { return nil }
        var options = ItemFileOptions(format: .json)
        return try ItemFiles.work(&options, "Encoding", showsBar: false, in: host.runtime) {
            try query.json($0, isPretty: isPretty)
        }
    }
}
