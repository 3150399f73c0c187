import Application
import Files
import Lua
import PropertyList

/// `plist`: property lists, binary and XML.
enum PlistModule {
    /// The reader's limit, so that everything read can be written.
    private static let depthLimit = PropertyListLimits.standard.maximumDepth

    private static let value = LuaParameter(
        "value", .any, "text, a number, a boolean, a date, data, or a table of these")
    private static let path = LuaParameter("path", .text, "a path that the sandbox grants")
    private static let options = LuaParameter(
        "options",
        .optional(.options([LuaParameter("format", .choice(["binary", "xml"]), "the form; binary if not given")])),
        "how it is written")

    static func install(in host: ScriptHost) -> LuaModule {
        let bridge = host.values
        let module = LuaModule(
            "plist",
            "Property lists, binary and XML: arrays and dictionaries as tables, dates, data, null, integers of any size.",
            in: host.state)
        reading(module, host)
        writing(module, host)
        module.function(
            "dictionary", [LuaParameter("table", .optional(.table), "its entries; none if not given")],
            returns: [.table],
            "Marks a table as a dictionary, so that it is one when it is empty, too; gives the table.",
            example: "return plist.encode({ options = plist.dictionary{} }, { format = \"xml\" })"
        ) { call in
            try marked(call, bridge.readOnly.markDictionary)
        }
        module.function(
            "set", [LuaParameter("table", .optional(.table), "its elements, from 1 on; none if not given")],
            returns: [.table], "Marks a table as a set, which only the binary form has; gives the table.",
            example: "return #plist.decode(plist.encode(plist.set{ 1, 2 }))"
        ) { call in
            try marked(call, bridge.readOnly.markSet)
        }
        module.function(
            "integer", [LuaParameter("digits", .text, "decimal digits, with a sign or without")],
            returns: [.union([.integer, .object("WideInteger")])],
            "An integer of up to 128 bits: Lua's own where that holds it.",
            example: "return tostring(plist.integer(\"18446744073709551615\"))"
        ) { call in
            guard let value = Int128(try call.text(0)) else {
                throw call.refuse(0, "decimal digits of an integer of 128 bits expected")
            }
            return call.returns(try bridge.lua(Int64(exactly: value).map { .integer($0) } ?? .wideInteger(value)))
        }
        module.function(
            "uid", [LuaParameter("value", .integer, "0 to 4294967295")], returns: [.object("UID")],
            "A reference into the objects of a keyed archive, for those who write one by hand.",
            example: "return plist.uid(1).value"
        ) { call in
            guard let uid = UInt32(exactly: try call.integer(0)) else {
                throw call.refuse(0, "an integer from 0 to 4294967295 expected")
            }
            return call.returns(UIDValue(uid), bridge.uids)
        }
        return module
    }

    // MARK: Reading

    private static func reading(_ module: LuaModule, _ host: ScriptHost) {
        let bridge = host.values
        module.function(
            "read", [path], returns: LuaType.orError(.any),
            "The value of a property list's file, in either form; nil and an error when it can't be read.",
            example:
                "local path = app.container.tmp .. \"/a.plist\" plist.write({ 1 }, path) return plist.read(path)[1]"
        ) { [unowned host] call in
            let path = try call.text(0)
            return try FileSystemModule.attempt(call, host, path, .read) { layer in
                let bytes = try layer.contents(of: path, limit: FileSystemModule.readLimit)
                let value: PropertyListValue
                do throws(PropertyListError) { value = try PropertyListValue(decoding: bytes) } catch {
                    return call.returns(failure: LocatedError(error, path))
                }
                return call.returns(try bridge.lua(value))
            }
        }
        module.function(
            "decode", [LuaParameter("bytes", .union([.string, .object("data")]), "a property list in either form")],
            returns: LuaType.orError(.any), "The value of a property list; nil and an error when it is none.",
            example: "return plist.decode(\"<plist version='1.0'><array><true/></array></plist>\")[1]"
        ) { call in
            let bytes = try bridge.bytes(call, 0)
            let value: PropertyListValue
            do throws(PropertyListError) { value = try PropertyListValue(decoding: bytes) } catch {
                return call.returns(failure: error)
            }
            return call.returns(try bridge.lua(value))
        }
    }

    // MARK: Writing

    private static func writing(_ module: LuaModule, _ host: ScriptHost) {
        let bridge = host.values
        module.function(
            "write", [value, path, options], returns: LuaType.orError(.boolean),
            "Writes a value as a property list's file, whole or not at all. Raises when it is no property-list value, and "
                + "says where.",
            example: "return plist.write({ name = \"Bear\" }, app.container.tmp .. \"/a.plist\", { format = \"xml\" })"
        ) { [unowned host] call in
            let bytes = try encoded(call, options: 2, bridge)
            let path = try call.text(1)
            return try FileSystemModule.write(call, host, path) { write in
                try write(bytes)
                return call.returns(true)
            }
        }
        module.function(
            "encode", [value, options], returns: [.string],
            "A value as a property list. Raises when it is no property-list value, and says where.",
            example: "return plist.encode({ name = \"Bear\", tags = { \"gift\" } }, { format = \"xml\" })"
        ) { call in call.returns(LuaString(try encoded(call, options: 1, bridge))) }
    }

    private static func marked(_ call: LuaCall, _ mark: (LuaTable) -> Void) throws -> LuaResults {
        let table = try call.optional(0, call.table) ?? call.state.makeTable()
        mark(table)
        return call.returns(LuaValue.table(table))
    }

    private static func encoded(_ call: LuaCall, options position: Int, _ bridge: ValueBridge) throws -> [UInt8] {
        let format = PropertyListFormat(word: try call.option("format", of: position)) ?? .binary
        let value: PropertyListValue
        do throws(ValueBridge.Refusal) {
            value = try bridge.propertyList(call.value(0), path: "root", depthLimit: depthLimit)
            try check(value, format)
        } catch {
            throw call.refuse(0, error.message)
        }
        return try value.encoded(as: format)
    }

    /// Checks for values that the format cannot represent.
    private static func check(
        _ value: PropertyListValue, _ format: PropertyListFormat
    ) throws(ValueBridge.Refusal) {
        if let fault = fault(in: value, format) {
            throw ValueBridge.Refusal(path: "root" + fault.path, reason: fault.reason)
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
        case .date(let date) where !date.secondsSinceReferenceDate.isFinite:
            return ("", "the date is not finite")
        case .array(let elements), .set(let elements):
            for (index, element) in elements.enumerated() {
                if let fault = fault(in: element, format) { return ("[\(index + 1)]\(fault.path)", fault.reason) }
            }
        case .dictionary(let entries):
            for (key, entry) in entries {
                if let fault = fault(in: entry, format) { return (".\(key)\(fault.path)", fault.reason) }
            }
        default: break
        }
        return nil
    }
}

extension PropertyListFormat {
    /// Parses an option's word.
    init?(word: LuaValue) {
        switch word.textValue {
        case "binary": self = .binary
        case "xml": self = .xml
        default: return nil
        }
    }

    var word: String { self == .binary ? "binary" : "xml" }
}

extension ValueBridge {
    /// A value that scripts may change.
    func lua(_ value: PropertyListValue) throws(LuaError) -> LuaValue { try lua(value, readOnly: false) }

    /// The bytes of an argument: a string or data.
    func bytes(_ call: LuaCall, _ position: Int) throws -> [UInt8] {
        try call.optionalObject(position, datas)?.bytes ?? call.bytes(position)
    }
}
