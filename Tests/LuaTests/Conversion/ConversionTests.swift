import Testing

@testable import Lua

/// What a Swift type takes from Lua, and gives to it.
@Suite("Conversion") struct ConversionTests {
    let state: LuaState
    let module: LuaModule

    init() throws {
        state = try LuaState()
        module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
    }

    private func show(_ expression: String) throws -> String {
        try state.load("return \(expression)".utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    private func message(_ expression: String) -> String? {
        #expect(throws: LuaError.self) { try show(expression) }?.message
    }

    @Test("integers of every width, and what does not fit")
    func integers() throws {
        module.function("small", ["a", "b", "c"], doc: "Of few bits.") { (a: UInt8, b: Int16, c: UInt32) in
            Int64(a) + Int64(b) + Int64(c)
        }
        #expect(try show("m.small(255, -32768, 4294967295)") == "4294934782")
        #expect(try show("m.small(1.0, 2, 3)") == "6")
        let expected = "test:1: bad argument #1 'a' to 'm.small' (integer from 0 to 255 expected, got 256)"
        #expect(message("m.small(256, 0, 0)") == expected)
        #expect(throws: LuaMismatch("integer from -128 to 127 expected, got -129")) { try Int8(lua: -129) }
        #expect(throws: LuaMismatch("integer expected, got number")) { try Int32(lua: 1.5) }
    }

    @Test("floats")
    func floats() throws {
        module.function("half", ["of"], doc: "The half.") { (number: Float) in number / 2 }
        #expect(try show("m.half(5), m.half(0.5)") == "2.5 0.25")
    }

    @Test("dictionaries by names, integers and words")
    func dictionaries() throws {
        enum Size: String, CaseIterable, LuaRepresentable { case small, large }
        module.function("swap", ["names"], doc: "Values as keys.") { (names: [String: Int]) in
            Dictionary(uniqueKeysWithValues: names.map { ($0.value, $0.key) })
        }
        module.function("sum", ["prices"], doc: "By size.") { (prices: [Size: Double]) in prices.values.reduce(0, +) }
        module.function("keys", ["names"], doc: "Sorted.") { (names: [Int: String]) in names.keys.sorted() }
        #expect(try show("m.swap{ a = 1, b = 7 }") == #"{ "a", [7] = "b" }"#)
        #expect(try show("m.keys{ 'x', 'y', [40] = 'z' }, m.sum{ small = 2, large = 3 }") == "{ 1, 2, 40 } 5.0")
        #expect(message("m.keys{ a = 'x' }")?.hasSuffix("(integers as keys expected, got a string)") == true)
        #expect(message("m.keys{ 5 }")?.hasSuffix("(field [1]: string expected, got number)") == true)
        #expect(message("m.sum{ tiny = 1 }")?.contains("as keys expected, got a string") == true)
    }

    @Test("a tuple is several results, and Void none")
    func tuples() throws {
        module.function("divide", ["a", "b"], doc: "Quotient and remainder.") { (a: Int, b: Int) in
            guard b != 0 else { throw LuaError(.argument, "no division by 0") }
            return (a / b, a % b)
        }
        module.function("three", doc: "Three.") { ("a", [1, 2], nil as Bool?) }
        module.function("nothing", doc: "Nothing.") {}
        #expect(try show("m.divide(17, 5)") == "3 2")
        #expect(try show("m.three()") == #""a" { 1, 2 } nil"#)
        #expect(try show("select('#', m.nothing())") == "0")
        #expect(message("m.divide(1, 0)") == "test:1: no division by 0")
        let signatures = state.declarations["m"]?.functions.map { $0.signature() }
        #expect(
            signatures == [
                "divide(a, b) → integer, integer", "three() → string, array of integer, boolean or nil", "nothing()",
            ])
    }

    @Test("a typed array refuses keys that are no positions, and holes")
    func arrays() throws {
        module.function("sum", ["numbers"], doc: "The sum.") { (numbers: [Int]) in numbers.reduce(0, +) }
        module.function("count", ["values"], doc: "With holes.") { (values: [Int?]) in values.count }
        module.function("all", ["rows"], doc: "All.") { (rows: [[String]]) in rows.joined().joined() }
        #expect(try show("m.sum{ 1, 2 }, m.sum{}, m.sum(table.pack(1, 2)), m.count{ 1, nil, 3 }") == "3 0 3 3")
        #expect(try show("m.count{ n = 4 }, m.all{ { 'a' }, { 'b', 'c' } }") == "4 \"abc\"")
        for (array, reason) in [
            ("{ a = 1 }", "an array has keys from 1, got a string as a key"),
            ("{ 1, [2.5] = 3 }", "got a number as a key"),
            ("{ [0] = 1 }", "got a number as a key"), ("{ [true] = 1 }", "got a boolean as a key"),
            ("{ 1, nil, 3 }", "element 2: integer expected, got nil"),
            ("{ [1 << 60] = 1 }", "an array with 1 elements"),
        ] {
            #expect(message("m.sum(\(array))")?.contains(reason) == true, "\(array)")
        }
        #expect(message("m.all{ { a = 'x' } }")?.contains("element 1: an array has keys from 1") == true)
    }

    @Test("an array of results has its nils, and their count")
    func holes() throws {
        module.function("ends", doc: "Nils at the end.") { [1, nil, nil] as [Int?] }
        module.function("full", doc: "No nils.") { [1, 2] as [Int?] }
        module.function("same", ["values"], doc: "Back.") { (values: [Int?]) in values }
        #expect(try show("m.ends().n, m.full().n, m.same(m.ends()).n, m.same({ n = 2 }).n") == "3 nil 3 2")
    }

    @Test("an argument that stands for too many values is refused")
    func bombs() throws {
        let state = try LuaState(limits: LuaLimits(memory: 16 << 20))
        let module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
        module.function("deep", ["rows"], doc: "Rows.") { (rows: [[[[Int]]]]) in rows.count }
        module.function("texts", ["texts"], doc: "Texts.") { (texts: [String]) in texts.count }
        module.function("all", ["…"], doc: "Texts.") { (texts: LuaVariadic<String>) in Array(texts).count }
        for script in [
            "local t = {} for i = 1, 1000 do t[i] = i end for j = 1, 3 do local u = {} for i = 1, 1000 do u[i] = t end t = u end m.deep(t)",
            "local s, t = ('x'):rep(1 << 20), {} for i = 1, 1000 do t[i] = s end m.texts(t)",
            "local s, t = ('x'):rep(1 << 20), {} for i = 1, 200 do t[i] = s end m.all(table.unpack(t))",
        ] {
            let error = #expect(throws: LuaError.self) { try state.load(script.utf8, name: "=x").call() }
            #expect(error?.message.contains("bad argument #") == true, "\(error?.message ?? "")")
        }
    }
}
