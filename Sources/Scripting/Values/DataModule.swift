import Files
import FoundationEssentials
import Lua

/// `data`: arbitrary bytes.
enum DataModule {
    static func makeClass(in state: LuaState) -> LuaClass<DataValue> {
        let cls = LuaClass<DataValue>(
            DataValue.luaName, doc: "Bytes, compared by content. `#d` is their number.", in: state, kind: .box)
        cls.method("bytes", doc: "The bytes, as a Lua string.", example: "return data(\"ab\"):bytes()") {
            LuaString($0.bytes)
        }
        cls.method("base64", doc: "The bytes in Base64.", example: "return data(\"ab\"):base64()") {
            Data($0.bytes).base64EncodedString()
        }
        cls.method(
            "hash", returns: [.string], doc: "The SHA-256 of the bytes, in hexadecimal digits.",
            example: "return data(\"ab\"):hash()"
        ) { value, call in call.returns(SHA256.digest(value.bytes).hexadecimal) }
        cls.method(
            "dump",
            [
                "from": "the offset of the first byte, from 0 (default: 0)",
                "length": "the number of bytes, at most 1,048,576 (default: 4096)",
            ],
            doc:
                "The bytes as lines of text for people: the offset, sixteen bytes in hexadecimal, their characters in ASCII. A "
                + "last line counts the bytes that are not shown.",
            example: "return data(\"bplist00\"):dump()"
        ) { (value, from: Int?, length: Int?) in
            let offset = from ?? 0
            guard (0...value.bytes.count).contains(offset) else {
                throw LuaMismatch(
                    "an offset from 0 to \(value.bytes.count) expected, got \(offset)", argument: "from")
            }
            guard (0...HexDump.longest).contains(length ?? 0) else {
                throw LuaMismatch(
                    "a number of bytes from 0 to \(HexDump.longest.grouped) expected, got \(length ?? 0)",
                    argument: "length")
            }
            return HexDump(value.bytes).text(from: offset, length: length ?? HexDump.standardLength) {
                "dump(\($0))"
            }
        }
        cls.declareOperator("len", returns: .integer, doc: "The number of bytes.")
        cls.metamethod("__len") { value, call in call.returns(value.bytes.count) }
        cls.metamethod("__tostring") { value, call in
            let shown = value.bytes.prefix(16).map { byte in
                let text = String(byte, radix: 16)
                return text.count < 2 ? "0" + text : text
            }
            return call.returns(
                "<\(value.bytes.count) \(value.bytes.count.word("byte")): \(shown.joined())\(value.bytes.count > 16 ? "…" : "")>"
            )
        }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls)?.bytes == call.optionalObject(1, cls)?.bytes)
        }
        return cls
    }

    static func install(_ bridge: ValueBridge) -> LuaModule {
        let module = LuaModule("data", doc: "Binary data.", in: bridge.state)
        module.callable(
            ["bytes": "any bytes"], doc: "Data with the bytes of a string.", example: "return #data(\"\\0\\1\\2\")"
        ) { (string: LuaString) in DataValue(string.bytes) }
        module.function(
            "fromBase64", ["text": "Base64; line breaks are ignored"],
            doc: "Decodes a Base64 text; nil and an error if it is invalid.",
            example: "return data.fromBase64(\"YWI=\"):bytes()"
        ) { (text: LuaString) -> OrError<DataValue> in
            guard let data = Data(base64Encoded: Data(text.bytes), options: .ignoreUnknownCharacters) else {
                return .failure(ScriptError("invalidBase64", "the text is not Base64"))
            }
            return .success(DataValue(Array(data)))
        }
        return module
    }
}

/// `null`: the null value, for places where nil is not allowed.
enum NullModule {
    static func makeClass(in state: LuaState) -> LuaClass<NullValue> {
        let cls = LuaClass<NullValue>("null", doc: "Represents the absence of a value in arrays and JSON.", in: state)
        cls.declareGlobalObject()
        cls.metamethod("__tostring") { _, call in call.returns("null") }
        return cls
    }
}

/// `uuid()`.
package enum UUIDModule {
    static func install(in state: LuaState) -> LuaModule {
        let module = LuaModule("uuid", doc: "Universally unique identifiers.", in: state)
        module.callable([], doc: "A new random UUID, in upper case.", example: "return #uuid()", calling: make)
        return module
    }

    package static func make() -> String { UUID().uuidString }
}
