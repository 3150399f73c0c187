import Files
import FoundationEssentials
import Lua
import PropertyList

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
            let shown = Array(value.bytes.prefix(16)).hexadecimal
            return call.returns(
                "<\(value.bytes.count) \(value.bytes.count.word("byte")): \(shown)\(value.bytes.count > 16 ? "…" : "")>"
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
            "fromBase64", ["text": "Base64 with its padding; spaces and line breaks are ignored"],
            doc: "Decodes a Base64 text; nil and an error if it is invalid.",
            example: "return data.fromBase64(\"YWI=\"):bytes()"
        ) { (text: LuaString) -> OrError<DataValue> in
            guard Base64.isValid(text.bytes) else {
                return .failure(ScriptError("invalidBase64", "the text is not Base64"))
            }
            return .success(DataValue(Base64.decode(text.bytes)))
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

/// Bytes as text, in lines of sixteen: the offset of the first, the bytes in hexadecimal, the characters of ASCII.
package struct HexDump {
    /// The number of bytes that are shown unless a length is given.
    package static let standardLength = 4096
    /// The number of bytes that are shown at most.
    package static let longest = 1 << 20

    private let bytes: [UInt8]
    private let bytesPerLine: Int

    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - columns: the width of the screen; lines of eight bytes, where sixteen have no room.
    package init(_ bytes: [UInt8], columns: Int = 80) {
        self.bytes = bytes
        bytesPerLine = columns < 78 ? 8 : 16
    }

    /// The lines of a part.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first byte, from 0.
    ///   - length: the number of bytes; cut at the end of the bytes, and at ``longest``.
    ///   - continuation: what shows the bytes behind, by the offset of their first.
    /// - Returns: lines, each ending with a line break; the last one counts the bytes behind the part.
    package func text(from offset: Int, length: Int, continuation: (Int) -> String) -> String {
        let start = min(max(offset, 0), bytes.count)
        let end = start + min(max(length, 0), Self.longest, bytes.count - start)
        var text: [UInt8] = []
        text.reserveCapacity((end - start) * 5 + 80)
        var line = start
        while line < end {
            append(line..<min(line + bytesPerLine, end), to: &text)
            line += bytesPerLine
        }
        var lines = String(decoding: text, as: UTF8.self)
        if end < bytes.count {
            lines += "… and \((bytes.count - end).counted("more byte", "more bytes")): \(continuation(end))\n"
        }
        return lines
    }

    private func append(_ range: Range<Int>, to text: inout [UInt8]) {
        let offset = String(range.lowerBound, radix: 16)
        text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 8 - offset.utf8.count)) + offset.utf8
        for place in 0..<bytesPerLine {
            text.append(UInt8(ascii: " "))
            if place % 8 == 0 { text.append(UInt8(ascii: " ")) }
            guard range.lowerBound + place < range.upperBound else {
                text += "  ".utf8
                continue
            }
            let byte = bytes[range.lowerBound + place]
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        text += "  |".utf8
        for byte in bytes[range] { text.append((0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: ".")) }
        text += "|\n".utf8
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
