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
        module.function(
            "read", ["path": path],
            doc: "Reads a property-list file: binary, XML, or OpenStep text; nil and an error if it cannot be read. "
                + findingsDoc,
            example:
                "local path = app.container.tmp .. \"/a.plist\" plist.write({ 1 }, path) return plist.read(path)[1]"
        ) { [unowned host] (path: String) in
            try host.read(path, refusing: PropertyListError.self) {
                try decoded($0, "plist.read: \(VisibleText.line(path))", host)
            }
        }
        module.function(
            "decode", ["bytes": "a property list: binary, XML, or OpenStep text"],
            doc: "Decodes a property list; nil and an error if it is not one. " + findingsDoc,
            example: "return plist.decode(\"<plist version='1.0'><array><true/></array></plist>\")[1]"
        ) { [unowned host] (bytes: BytesArgument) in
            try OrError(returning: PropertyListError.self) { try decoded(bytes.bytes, "plist.decode", host) }
        }
    }

    private static let findingsDoc =
        "What the bytes have and the value does not show, such as one of two equal keys, and dates that no calendar has, is in the log, and an error with --strict."

    /// The value of a property list; what it does not show of the bytes is logged under a name.
    private static func decoded(_ bytes: [UInt8], _ name: String, _ host: ScriptHost) throws -> LuaValue {
        var findings: [PropertyListFinding] = []
        let value = try PropertyListValue(decoding: bytes, findings: &findings)
        if let first = findings.first {
            let place = first.line.map { ", line \($0)" } ?? ""
            let rest = findings.count > 1 ? " (the first of several findings)" : ""
            try host.report(loss: "\(name)\(place): \(first.message)\(rest)", kind: .runtime)
        }
        return try host.values.lua(value)
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
            if format == .xml, let fault = fault(in: value) {
                throw ValueBridge.BridgeError(path: "root" + fault.path, reason: fault.reason)
            }
        } catch {
            throw LuaMismatch(error.message, argument: "value")
        }
        return try host.propertyList(value.encoded(as: .binary), as: format)
    }

    /// The first value that the XML form cannot represent.
    private static func fault(in value: PropertyListValue) -> (path: String, reason: String)? {
        switch value {
        case .null: return ("", "the XML form has no null; the binary form has")
        case .string(let text):
            if text.utf8.contains(0) { return ("", "the XML form has no NUL character; the binary form has") }
        case .set: return ("", "the XML form has no sets; the binary form has")
        case .wideInteger(let value) where value > Int128(UInt64.max) || value < Int128(Int64.min):
            return ("", "the XML form holds integers of 64 bits; \(value) needs more")
        case .date(let date) where date.xmlText == nil:
            return ("", "the XML form has no date that is not finite or a million years away; the binary form has")
        case .utf16:
            return ("", "the XML form holds Unicode only, not half of a surrogate pair; the binary form has it")
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let fault = fault(in: element) { return ("[\(index + 1)]\(fault.path)", fault.reason) }
            }
        case .dictionary(let entries):
            for (key, entry) in entries.sortedEntries {
                guard case .string = key else {
                    return ("", "the XML form has only texts as keys, not \(key.nameOfKey); the binary form has others")
                }
                if let fault = fault(in: key) { return (".\(key.keyText)", fault.reason) }
                if let fault = fault(in: entry) { return (".\(key.keyText)\(fault.path)", fault.reason) }
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
                "Decodes a JSON text; nil and an error with line and column if it is invalid. Whole numbers are integers in any notation, exact up to 128 bits (beyond 64 bits a WideInteger); larger ones, NaN, reals out of range and digits that a real would lose before its point are errors. Of equal keys in an object the last counts, which the log says once.",
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
