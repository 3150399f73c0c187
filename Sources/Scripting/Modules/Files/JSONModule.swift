import FoundationEssentials
import Lua
import PropertyList

/// `json`: encode and decode, by Foundation.
enum JSONModule {
    /// A JSON value on its way through Foundation's coders.
    private indirect enum Value: Codable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case string(String)
        case array([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Value].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: Value].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .array(let value): try container.encode(value)
            case .object(let value): try container.encode(value)
            }
        }
    }

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
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if try call.option("pretty", of: 1).isTruthy { encoder.outputFormatting.insert(.prettyPrinted) }
            do {
                return call.returns(LuaString(Array(try encoder.encode(try json(value)))))
            } catch let error as ValueBridge.Refusal {
                throw call.refuse(0, error.message)
            }
        }
        module.function(
            "decode", [LuaParameter("text", .string, "JSON in UTF-8")], returns: LuaType.orError(.any),
            "The value of a JSON text; nil and an error when it is none.",
            example: "return json.decode('[1, 2.5, null]')[2]"
        ) { call in
            do {
                let value = try JSONDecoder().decode(Value.self, from: Data(try call.bytes(0)))
                return call.returns(lua(value, bridge))
            } catch let error as DecodingError {
                return call.returns(failure: ScriptError("invalidJSON", message(error)))
            }
        }
        return module
    }

    private static func message(_ error: DecodingError) -> String {
        if case .dataCorrupted(let context) = error {
            return "not JSON: \(context.underlyingError.map { "\($0)" } ?? context.debugDescription)"
        }
        return "not JSON: \(error)"
    }

    private static func json(_ value: PropertyListValue) throws -> Value {
        switch value {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .uid(let value): return .integer(Int64(value))
        case .wideInteger(let value): return .number(Double(value))
        case .real(let value):
            guard value.isFinite else { throw ValueBridge.Refusal(path: "", reason: "JSON has no \(value)") }
            return .number(value)
        case .single(let value): return try json(.real(Double(value)))
        case .date(let date): return .string(date.iso8601Text ?? date.text)
        case .data(let bytes): return .string(Data(bytes).base64EncodedString())
        case .string(let text): return .string(text)
        case .array(let elements), .set(let elements): return .array(try elements.map(json))
        case .dictionary(let entries): return .object(try entries.mapValues(json))
        }
    }

    private static func lua(_ value: Value, _ bridge: ValueBridge) -> LuaValue {
        switch value {
        case .null: return bridge.nulls.value(NullValue.shared)
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let text): return .text(text)
        case .array(let elements):
            let table = bridge.state.makeTable(array: elements.count)
            for (index, element) in elements.enumerated() {
                table.rawSet(.integer(Int64(index + 1)), lua(element, bridge))
            }
            return .table(table)
        case .object(let entries):
            let table = bridge.state.makeTable(fields: entries.count)
            for (key, element) in entries { table.rawSet(.text(key), lua(element, bridge)) }
            bridge.readOnly.markDictionary(table)
            return .table(table)
        }
    }
}
