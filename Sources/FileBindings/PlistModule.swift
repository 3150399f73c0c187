import Application
import Files
import Items
import Logging
import Lua
import PropertyList
package import Scripting

/// `plist`: property lists, binary and XML.
package enum PlistModule: ScriptModule {
    package static let name = "plist"

    /// The reader's limit, so that every readable value can be written.
    private static let depthLimit = PropertyListLimits.standard.maximumDepth

    private static let value: LuaArgument = "text, a number, a boolean, a date, data, or a table of these"
    private static let path: LuaArgument = "a path that the sandbox grants"

    /// Options for writing a property list.
    private struct Writing: LuaOptions {
        var format = PropertyListFormat.binary

        static var luaOptions: [LuaOption<Writing>] {
            LuaOption("format", \.format, doc: "the format (default: binary)")
        }
    }

    package static func declare(in host: ScriptHost) -> [Global] {
        let bridge = host.values
        let module = LuaModule(
            "plist",
            doc:
                "Property lists, binary and XML: arrays and dictionaries as tables, dates, data, null, integers of any size.",
            in: host.state)
        reading(module, host)
        writing(module, host)
        module.function(
            "dictionary", ["table": "its entries (default: none)"],
            doc: "Marks a table as a dictionary, even if it is empty. Returns the table.",
            example: "return plist.encode({ options = plist.dictionary{} }, { format = \"xml\" })"
        ) { (table: LuaTable?) in
            let table = table ?? bridge.state.makeTable()
            bridge.readOnly.markDictionary(table)
            return table
        }
        module.function(
            "set", ["table": "its elements, from 1 on (default: none)"],
            doc: "Marks a table as a set, which only the binary format has. Returns the table.",
            example: "return #plist.decode(plist.encode(plist.set{ 1, 2 }))"
        ) { (table: LuaTable?) in
            let table = table ?? bridge.state.makeTable()
            bridge.readOnly.markSet(table)
            return table
        }
        module.function(
            "integer", ["digits": "decimal digits, with an optional sign"],
            returns: [.union([.integer, .object("WideInteger")])],
            doc: "An integer of up to 128 bits: a Lua integer if it fits.",
            example: "return tostring(plist.integer(\"18446744073709551615\"))"
        ) { (digits: String) in
            guard let value = Int128(digits) else {
                throw LuaMismatch("decimal digits of an integer of 128 bits expected", argument: "digits")
            }
            return try bridge.lua(Int64(exactly: value).map { .integer($0) } ?? .wideInteger(value))
        }
        module.function(
            "uid", ["value": "0 to 4294967295"],
            doc: "A reference into the objects of a keyed archive, for writing archives by hand.",
            example: "return plist.uid(1).value"
        ) { (value: Int64) in
            guard let uid = UInt32(exactly: value) else {
                throw LuaMismatch("an integer from 0 to 4294967295 expected", argument: "value")
            }
            return UIDValue(uid)
        }
        return [module.global]
    }

    // MARK: Reading

    private static func reading(_ module: LuaModule, _ host: ScriptHost) {
        let bridge = host.values
        module.function(
            "read", ["path": path],
            doc: "Reads a property-list file: binary, XML, or OpenStep text; nil and an error if it cannot be read.",
            example:
                "local path = app.container.tmp .. \"/a.plist\" plist.write({ 1 }, path) return plist.read(path)[1]"
        ) { [unowned host] (path: String) in
            try host.read(path, refusing: PropertyListError.self) { try bridge.lua(PropertyListValue(decoding: $0)) }
        }
        module.function(
            "decode", ["bytes": "a property list: binary, XML, or OpenStep text"],
            doc: "Decodes a property list; nil and an error if it is not one.",
            example: "return plist.decode(\"<plist version='1.0'><array><true/></array></plist>\")[1]"
        ) { (bytes: BytesArgument) in
            try OrError(returning: PropertyListError.self) {
                try bridge.lua(PropertyListValue(decoding: bytes.bytes))
            }
        }
    }

    // MARK: Writing

    private static func writing(_ module: LuaModule, _ host: ScriptHost) {
        module.function(
            "write", ["value": value, "path": path, "options": "how to write the property list"],
            doc:
                "Writes a value to a property-list file, atomically. A value that it cannot hold raises an error with its "
                + "path.",
            example: "return plist.write({ name = \"Bear\" }, app.container.tmp .. \"/a.plist\", { format = \"xml\" })"
        ) { [unowned host] (value: LuaValue, path: String, options: Writing) in
            try host.write(encoded(value, options.format, host), to: path)
        }
        module.function(
            "encode", ["value": value, "options": "how to write the property list"],
            doc: "Encodes a value as a property list. A value that it cannot hold raises an error with its path.",
            example: "return plist.encode({ name = \"Bear\", tags = { \"gift\" } }, { format = \"xml\" })"
        ) { [unowned host] (value: LuaValue, options: Writing) in
            LuaString(try encoded(value, options.format, host))
        }
    }

    /// The argument `value` as a property list.
    private static func encoded(
        _ argument: LuaValue, _ format: PropertyListFormat, _ host: ScriptHost
    ) throws -> [UInt8] {
        let value: PropertyListValue
        do throws(ValueBridge.BridgeError) {
            value = try host.values.propertyList(argument, path: "root", depthLimit: depthLimit)
            try check(value, format)
        } catch {
            throw LuaMismatch(error.message, argument: "value")
        }
        guard format == .xml else { return try value.encoded(as: format) }
        let (xml, loss) = try BinaryPropertyListReader(value.encoded(as: .binary)).xmlSayingLoss()
        guard let loss else { return xml }
        if host.options.isStrict { throw LuaError(.argument, "with --strict: \(loss)") }
        host.logger.warning("\(loss)")
        return xml
    }

    /// Checks for values that the format cannot represent.
    private static func check(
        _ value: PropertyListValue, _ format: PropertyListFormat
    ) throws(ValueBridge.BridgeError) {
        if let fault = fault(in: value, format) {
            throw ValueBridge.BridgeError(path: "root" + fault.path, reason: fault.reason)
        }
    }

    private static func fault(
        in value: PropertyListValue, _ format: PropertyListFormat
    ) -> (path: String, reason: String)? {
        switch value {
        case .null where format == .xml:
            return ("", "the XML form has no null; the binary form has")
        case .set where format == .xml:
            return ("", "the XML form has no sets; the binary form has")
        case .wideInteger(let value) where format == .xml && (value > Int128(UInt64.max) || value < Int128(Int64.min)):
            return ("", "the XML form holds integers of 64 bits; \(value) needs more")
        case .date(let date) where format == .xml && date.xmlText == nil:
            return ("", "the XML form has no date that is not finite or a million years away; the binary form has")
        case .utf16 where format == .xml:
            return ("", "the XML form holds Unicode only, not half of a surrogate pair; the binary form has it")
        case .array(let elements), .set(let elements):
            for (index, element) in elements.enumerated() {
                if let fault = fault(in: element, format) { return ("[\(index + 1)]\(fault.path)", fault.reason) }
            }
        case .dictionary(let entries):
            for (key, entry) in entries.sortedEntries {
                if format == .xml, case .string = key {
                } else if format == .xml {
                    return ("", "the XML form has only texts as keys, not \(key.nameOfKey); the binary form has others")
                }
                if let fault = fault(in: entry, format) { return (".\(key.keyText)\(fault.path)", fault.reason) }
            }
        default: break
        }
        return nil
    }
}

/// `json`: encode and decode.
package enum JSONModule: ScriptModule {
    package static let name = "json"
    package static let needs = ["items"]

    package static func declare(in host: ScriptHost) throws -> [Global] {
        let bridge = host.values
        let (item, query) = (try host.declaredClass(of: Item.self), try host.declaredClass(of: ItemQuery.self))
        var hasWarned = false
        let module = LuaModule(
            "json", doc: "JSON. null represents null; dates are written in ISO 8601, data in Base64.", in: bridge.state)
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
            doc:
                "Encodes a value as JSON with sorted keys, dates and numbers with all digits. Raises an error with the path of a value that JSON cannot represent, such as NaN; for items nil and an error that names item and field.",
            example: "return json.encode({ name = \"Bear\", tags = { \"gift\" } })"
        ) { [unowned host] call in
            do {
                if let json = try items(call, item, query, host) { return call.returns(LuaString(json)) }
            } catch let error as StoreError where !error.code.isProgrammerError {
                return call.returns(failure: error)
            }
            let value: PropertyListValue
            do throws(ValueBridge.BridgeError) {
                value = try bridge.propertyList(call.value(0), writesDays: true)
            } catch {
                throw call.refuse(0, error.message)
            }
            let isPretty = try call.option("pretty", of: 1).isTruthy
            do throws(JSONError) { return call.returns(LuaString(try value.json(isPretty: isPretty))) } catch {
                throw call.refuse(0, error.message)
            }
        }
        module.function(
            "decode", [LuaParameter("text", .string, "JSON in UTF-8")], returns: LuaType.orError(.any),
            doc:
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
