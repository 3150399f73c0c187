import Testing

@testable import Lua

/// The keys of dictionaries, and numbers that Swift has no equal for.
@Suite("Keys and numbers of Codable values") struct LuaKeyTests {
    enum Zone: String, Codable, CodingKeyRepresentable { case north = "1", south = "2" }
    enum Level: Int, Codable, CodingKeyRepresentable { case low = 1, high = 2 }

    /// A dictionary whose type its coder does not see.
    struct Passed<Key: Codable & Hashable>: Codable, Equatable {
        var fields: [Key: Int]
        init(_ fields: [Key: Int]) { self.fields = fields }
        init(from decoder: any Decoder) throws { fields = try [Key: Int](from: decoder) }
        func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
    }

    struct Wrapped: Codable, Equatable {
        var zips: [String: [String: Int]]?
        var floors: [Int: String]
    }

    private let state: LuaState

    init() throws { state = try LuaState() }

    private func decode<Out: Decodable>(_ expression: String, as type: Out.Type) throws -> Out {
        let result = try state.load("return \(expression)".utf8, name: "=test").call().first ?? .nil
        return try LuaDecoder().decode(type, from: result)
    }

    private func refusal<Out: Decodable>(_ expression: String, as type: Out.Type) throws -> String {
        try #require(throws: DecodingError.self) { try decode(expression, as: type) }.context.debugDescription
    }

    private func keys(_ value: some Encodable) throws -> String {
        state.globals["v"] = try LuaEncoder(state).encode(value)
        let chunk = "local k = {} for key in pairs(v) do k[#k + 1] = math.type(key) or type(key) end return k"
        return try state.load(chunk.utf8, name: "=test").call().map(\.description).joined()
    }

    @Test("names of digits stay names, and integers integers, both ways")
    func digits() throws {
        #expect(try decode("{ ['8001'] = 'Zürich', ['08'] = 'x' }", as: [String: String].self)["8001"] == "Zürich")
        #expect(try decode("{ ['1'] = 5 }", as: [Zone: Int].self) == [.north: 5])
        #expect(try decode("{ 5, 6 }", as: [Level: Int].self) == [.low: 5, .high: 6])
        #expect(try keys(["8001": 1]) == #"{ "string" }"#)
        #expect(try keys([8001: 1]) == #"{ "integer" }"#)
        #expect(try keys([Zone.south: 1]) == #"{ "string" }"#)
        #expect(try keys([Level.high: 1]) == #"{ "integer" }"#)
        #expect(try keys(["8001": 1] as [String: Int]?) == #"{ "string" }"#)
        let wrapped = Wrapped(zips: ["1": ["2": 3]], floors: [1: "a"])
        #expect(try LuaDecoder().decode(Wrapped.self, from: LuaEncoder(state).encode(wrapped)) == wrapped)
    }

    @Test("a key of the other kind is refused")
    func others() throws {
        #expect(try refusal("{ 'a' }", as: [String: String].self) == "names as keys expected, got 1")
        #expect(try refusal("{ ['1'] = 'a' }", as: [Int: String].self) == #"integers as keys expected, got "1""#)
        #expect(try refusal("{ ['1'] = 'a', [1] = 'b' }", as: [String: String].self).hasSuffix("got 1"))
        #expect(try refusal("{ [1.5] = 'a' }", as: [Zone: String].self) == "names as keys expected, got 1.5")
    }

    @Test("a type that passes its coder to a dictionary has the keys that are there, unless they are of both kinds")
    func passed() throws {
        #expect(try decode("{ ['1'] = 5, a = 6 }", as: Passed<String>.self) == Passed(["1": 5, "a": 6]))
        #expect(try decode("{ 5, [7] = 6 }", as: Passed<Int>.self) == Passed([1: 5, 7: 6]))
        let both = try refusal("{ ['1'] = 5, [1] = 6 }", as: Passed<String>.self)
        #expect(both == "two keys differ in their type alone: '1' and 1")
        #expect(try keys(Passed(["a": 1, "08": 2])) == #"{ "string", "string" }"#)
        for value: any Encodable in [Passed(["a": 1, "8": 2]), Passed([8: 2])] {
            let error = try #require(throws: EncodingError.self) { try keys(value) }
            #expect("\(error)".contains("a key that is a text or an integer"), "\(value)")
        }
    }

    @Test("keys that are one key in Swift are refused, and not merged")
    func equal() throws {
        let names = "{ ['é'] = 1, ['e\\u{301}'] = 2 }"
        #expect(try refusal(names, as: [String: Int].self).hasPrefix("two keys are equal as keys in Swift: \""))
        #expect(try refusal("{ ['\\u{212A}'] = 1, K = 2 }", as: [String: Int].self).hasPrefix("two keys are equal"))
        let module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
        module.function("names", ["d"], doc: "Names.") { (d: [String: Int?]) in d.count }
        module.function("floats", ["d"], doc: "Floats.") { (d: [Float: Int]) in d.count }
        for call in ["m.names\(names)", "m.floats{ [0.1] = 1, [0.1 + 1e-12] = 2 }"] {
            let error = #expect(throws: LuaError.self) { try state.load(call.utf8, name: "=test").call() }
            #expect(error?.message.contains("(two keys are equal as keys in Swift: ") == true, "\(call)")
        }
        #expect(try decode("{ ['é'] = 1, e = 2 }", as: [String: Int].self).count == 2)
    }

    @Test("a number that becomes another one, infinity or 0 is refused")
    func numbers() throws {
        let odd = "9007199254740993 has no exact floating-point number"
        #expect(try refusal("9007199254740993", as: Double.self) == odd)
        #expect(try refusal("math.maxinteger", as: Double.self).hasPrefix("9223372036854775807 has no exact"))
        #expect(try refusal("1e-60", as: Float.self) == "1e-60 is beyond the range of single precision")
        #expect(try refusal("1e60", as: Float.self) == "1e+60 is beyond the range of single precision")
        #expect(try decode("{ 1 << 53, 1 << 60, math.mininteger, -0.0 }", as: [Double].self)[1] == 0x1p60)
        #expect(try decode("{ 0.1, 0, 1/0 }", as: [Float].self) == [0.1, 0, .infinity])
        let module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
        module.function("half", ["of"], doc: "The half.") { (number: Double) in number / 2 }
        #expect(try decode("m.half(1 << 53)", as: Double.self) == 0x1p52)
        let error = #expect(throws: LuaError.self) { try decode("m.half(9007199254740993)", as: Double.self) }
        #expect(error?.message.contains("'of' to 'm.half' (\(odd))") == true)
    }

    @Test("integers of 128 bits are Lua's integers, if they fit")
    func wide() throws {
        struct Wide: Codable, Equatable {
            var signed: Int128
            var unsigned: UInt128?
            var all: [Int128]
            var none: [UInt128]
        }
        let wide = Wide(signed: -5, unsigned: 7, all: [1, -2], none: [])
        #expect(try LuaDecoder().decode(Wide.self, from: LuaEncoder(state).encode(wide)) == wide)
        #expect(try decode("5", as: Int128.self) == 5)
        #expect(try refusal("-1", as: UInt128.self) == "-1 does not fit into UInt128")
        let error = try #require(throws: EncodingError.self) { try LuaEncoder(state).encode([Int128.max]) }
        #expect("\(error)".contains("\(Int128.max) does not fit into an integer of Lua"))
    }
}
