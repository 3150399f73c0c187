import Files
import Logging
package import Lua
package import Network
import PropertyList
import Scripting
import Wording

/// The answer to a request, for scripts.
final class HTTPAnswer {
    static let luaName = "Response"

    let response: HTTPResponse
    /// The file that has its body.
    let path: String?
    private var headers: LuaTable?

    init(_ response: HTTPResponse, path: String?) { (self.response, self.path) = (response, path) }

    static func makeClass(in host: ScriptHost) -> LuaClass<HTTPAnswer> {
        let state = host.state
        let cls = LuaClass<HTTPAnswer>(luaName, doc: "The answer to a request of http.", in: state)
        cls.integer("status", doc: "The status, such as 200 or 404.", get: { Int64($0.response.status) })
        cls.text("url", doc: "The address that answered, after redirects.", get: { $0.response.url })
        cls.property(
            "headers", .table,
            doc:
                "The header, by names in small letters; any case finds one. Several of a name are joined by commas, of set-cookie by line breaks."
        ) { [unowned state] answer, call in
            let table = answer.headers ?? answer.makeHeaders(state)
            answer.headers = table
            return call.returns(LuaValue.table(table))
        }
        cls.property(
            "body", .optional(.string), doc: "The bytes of the body; nil if they went to a file, see `path`."
        ) { answer, call in
            answer.path == nil ? call.returns(LuaString(answer.response.body)) : call.returns(LuaValue.nil)
        }
        cls.property("path", .optional(.text), doc: "The file of the option `to` that has the body; nil for none.") {
            answer, call in call.returns(answer.path.map(LuaValue.text) ?? .nil)
        }
        cls.method(
            "json", returns: LuaType.orError(.any),
            doc: "The body as a value, as json.decode has it; nil and an error if it is not JSON.",
            example: "local response = http.get(\"https://example.org/\") return response and response:json()"
        ) { [unowned host] answer, call in
            if let path = answer.path {
                return call.returns(failure: ScriptError("invalidJSON", "the body is in a file", path: path))
            }
            var repeated = RepeatedKeys()
            let value: PropertyListValue
            do throws(JSONError) {
                value = try PropertyListValue(json: answer.response.body, repeated: &repeated)
            } catch {
                return call.returns(
                    failure: ScriptError(
                        "invalidJSON", "the answer of \(VisibleText.line(answer.response.url)): \(error.message)"))
            }
            if let key = repeated.first {
                host.logger.warning(
                    "response:json: \(repeated.count.counted("key")) more than once in an object, the first \(key.quoted()); the last value counts"
                )
            }
            return call.returns(try host.values.lua(value))
        }
        cls.metamethod("__tostring") { answer, call in
            let size = answer.path ?? answer.response.body.count.counted("byte")
            return call.returns("Response(\(answer.response.status), \(VisibleText.line(size)))")
        }
        return cls
    }

    private func makeHeaders(_ state: LuaState) -> LuaTable {
        let lookUp = state.makeFunction(
            LuaFunctionDeclaration("headers", [LuaParameter("…", .variadic(.any))])
        ) { call in
            guard case .table(let table) = call.value(0), let name = call.value(1).textValue else {
                return call.returns(LuaValue.nil)
            }
            return call.returns(table[HTTPField.small(name)])
        }
        let table = state.makeTable(fields: response.headers.count)
        for field in response.headers {
            let name = HTTPField.small(field.name)
            let separator = name == "set-cookie" ? "\n" : ", "
            table[name] = .text(table[name].textValue.map { $0 + separator + field.value } ?? field.value)
        }
        table.setMetatable(state.makeTable(["__index": lookUp, "__name": "headers"]))
        return table
    }
}

/// The body of an HTML form.
enum HTTPForm {
    /// The fields of a table in the order of their names.
    ///
    /// - Throws: `LuaMismatch` for what is not a text, a number, a boolean, or an array of these.
    static func encode(_ table: LuaTable, _ text: (LuaValue) -> String?) throws -> [UInt8] {
        var pairs: [(name: String, value: String)] = []
        try table.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaMismatch("option 'form': names with values expected, got the key \(key)", argument: "options")
            }
            func add(_ value: LuaValue) throws {
                guard let text = text(value) else {
                    throw LuaMismatch(
                        "option 'form': the field \(name.quoted()) is a text, a number or a boolean, got \(value.typeName)",
                        argument: "options")
                }
                pairs.append((name, text))
            }
            guard case .table(let values) = value else {
                try add(value)
                return true
            }
            if let key = try values.keyBesideArray() {
                throw LuaMismatch(
                    "option 'form': the field \(name.quoted()) is an array of its values, got the key \(key)",
                    argument: "options")
            }
            for position in 0..<values.count { try add(values[position + 1]) }
            return true
        }
        // Of one name in the order of the array: the sort is stable.
        let sorted = pairs.enumerated().sorted {
            $0.element.name == $1.element.name
                ? $0.offset < $1.offset : $0.element.name.utf8.lexicographicallyPrecedes($1.element.name.utf8)
        }
        return Array(
            sorted.map { "\(escape($0.element.name))=\(escape($0.element.value))" }.joined(separator: "&").utf8)
    }

    private static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x2A: bytes.append(byte)
            case 0x20: bytes.append(0x2B)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPBody {
    /// The bytes, also those of a file; nil for none.
    var contents: [UInt8]? {
        switch self {
        case .none: nil
        case .bytes(let bytes): bytes
        case .file(let file): file.contents
        }
    }
}

extension HTTPError: LuaErrorDetails {
    package var luaDomain: String { "NSURLErrorDomain" }
    package var luaCode: LuaErrorCode { .number(code.rawValue) }
}
