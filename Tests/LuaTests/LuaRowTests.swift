import Testing

@testable import Lua

@Suite("Rows and records") final class LuaRowTests {
    /// A table of numbers; an object stands for a row while Swift looks at it.
    final class Row {
        let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }

    let state: LuaState
    let rows: LuaClass<Row>

    init() throws {
        let state = try LuaState()
        let rows = LuaClass<Row>(
            rows: "Row", doc: "A row.", in: state, number: { $0.number }, object: { Row($0) },
            unknownMember: { row, name, call in call.returns("\(name) of \(row.number)") })
        var widths: [UInt64: Int64] = [:]
        rows.field("width", .integer, doc: "How wide.", set: { row, call in widths[row] = try call.integer(0) }) {
            row, call in call.returns(widths[row] ?? 0)
        }
        rows.field("fixed", .text, doc: "Read-only.") { row, call in call.returns("fixed") }
        rows.method("number", returns: [.integer], doc: "Its number.") { row, call in call.returns(Int64(row.number)) }
        let integer = LuaParameter("number", .integer)
        let get = state.makeFunction(LuaFunctionDeclaration("get", [integer])) { call in
            call.returns(row: UInt64(bitPattern: try call.integer(0)), rows)
        }
        let all = state.makeFunction(LuaFunctionDeclaration("all", [integer, integer])) { call in
            let (first, last) = (UInt64(try call.integer(0)), UInt64(try call.integer(1)))
            return try Array(first...last).withUnsafeBufferPointer { try call.returns(rows: $0, rows) }
        }
        let record = LuaRecord(["name", "size", "at"], in: state)
        let meters = LuaClass<Meters>(inline: "Meters", doc: "A length.", in: state)
        record.allow(meters, at: 2)
        let read = state.makeFunction(LuaFunctionDeclaration("read", [LuaParameter("fields", .table)])) { call in
            var text = ""
            let isRead = try call.withRecord(0, record) { values in
                text = values.bytes(0).map { String(decoding: $0, as: UTF8.self) } ?? "-"
                text += " \(values.integer(1).map(String.init) ?? "-")"
                text += " \(values.bits(2).map { "\(Meters(luaBits: $0).value)" } ?? "-")"
                text += " \((0..<3).filter(values.has).count)"
                return true
            }
            return call.returns(isRead ? text : "walk")
        }
        let metersOf = state.makeFunction(LuaFunctionDeclaration("meters", [LuaParameter("n", .number)])) { call in
            call.returns(Meters(try call.number(0)), meters)
        }
        // Rows go by being let go; each look at whether one has gone is counted.
        rows.declareExistence(epoch: UnsafePointer(epoch)) { [looks] row in
            looks.pointee += 1
            return row % 2 == 0
        }
        let walk = state.makeFunction(LuaFunctionDeclaration("walk", [integer, integer])) { [epoch] call in
            let (first, last) = (try call.integer(0), try call.integer(1))
            let count = Int(last - first) + 1
            guard let places = call.pushIterator(over: count, since: epoch.pointee, rows) else {
                return call.returnsNothing()
            }
            for place in 0..<count { places[place] = UInt64(first) + UInt64(place) }
            return call.returnsIterator()
        }
        let depart = state.makeFunction(LuaFunctionDeclaration("depart", [])) { [epoch] call in
            epoch.pointee += 1
            return call.returnsNothing()
        }
        let looked = state.makeFunction(LuaFunctionDeclaration("looked", [])) { [looks] call in
            call.returns(looks.pointee)
        }
        let functions = [
            ("get", get), ("all", all), ("read", read), ("meters", metersOf), ("walk", walk), ("depart", depart),
            ("looked", looked),
        ]
        for (name, function) in functions { state.globals[name] = .function(function) }
        self.state = state
        self.rows = rows
    }

    private let epoch: UnsafeMutablePointer<UInt64> = {
        let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        word.initialize(to: 7)
        return word
    }()
    private let looks: UnsafeMutablePointer<Int> = {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        return count
    }()

    deinit {
        state.close()
        epoch.deallocate()
        looks.deallocate()
    }

    static let walked: [(String, String)] = [
        ("", "1:5 2:6 3:7 4:8 looked 0"),
        // From a departure on each row is looked at before it is given: places count those that have gone, too.
        ("if row:number() == 5 then depart() end", "1:5 3:7 looked 3"),
        ("depart() row = nil", "1:5 3:7 looked 3"),
        ("if row:number() == 8 then depart() end", "1:5 2:6 3:7 4:8 looked 0"),
        ("collectgarbage() string.rep('x', 10000)", "1:5 2:6 3:7 4:8 looked 0"),
    ]

    @Test(arguments: walked) func iteratorsLeaveOutWhatHasGone(body: String, expected: String) throws {
        let script = """
            local given = {}
            for place, row in walk(5, 8) do
              given[#given + 1] = place .. ":" .. row:number()
              \(body)
            end
            return table.concat(given, " ") .. " looked " .. looked()
            """
        let values = try state.load(Array(script.utf8), name: "=test").call()
        #expect(values.first?.textValue == expected)
    }

    @Test func anIteratorOverNothingEndsAtOnceAndStaysAtItsEnd() throws {
        #expect(try show("walk(5, 4)()") == "nil")
        #expect(
            try show("(function() local next = walk(5, 5) return next(), select('#', next()), next(), next() end)()")
                == "1 1 nil nil")
    }

    private func show(_ expression: String) throws -> String {
        let values = try state.load(Array("return \(expression)".utf8), name: "=test").call()
        return values.map { state.describe($0).description }.joined(separator: " ")
    }

    static let shown: [(String, String)] = [
        ("rawequal(get(7), get(7)), get(7) == get(8)", "true false"),
        ("rawequal(all(250, 260)[7], get(256)), #all(250, 260)", "true 11"),
        ("get(5).width, get(5).fixed, get(5):number(), get(5).color", "0 fixed 5 color of 5"),
        ("(function() get(9).width = 4.0 return get(9).width, get(10).width end)()", "4 0"),
        // The same row with another owner: the old one's handle stays, and is another value.
        (
            "(function() local a = get(3) local b = get(3 + (1 << 32)) "
                + "return a == b, rawequal(b, get(3 + (1 << 32))), a:number(), b:number() == 3 + (1 << 32) end)()",
            "false true 3 true"
        ),
        ("select(2, pcall(function() get(1).width = 'x' end))", "test:1: Row.width: integer expected, got string"),
        ("select(2, pcall(function() get(1).fixed = 'x' end))", "test:1: Row.fixed cannot be assigned"),
        ("select(2, pcall(get(1).number, io.stdout))", "Row:number is a method: call it with a colon, on a Row"),
        ("select(2, pcall(function() return get(1) + 1 end))", "test:1: attempt to perform arithmetic on a Row value"),
        ("select(2, pcall(function() return 1 // get(1) end))", "test:1: attempt to perform arithmetic on a Row value"),
        ("select(2, pcall(function() return 'x' .. get(1) end))", "test:1: attempt to concatenate a Row value"),
        ("select(2, pcall(function() return get(1) < get(2) end))", "test:1: attempt to compare two Row values"),
        ("select(2, pcall(function() return 1 <= get(2) end))", "test:1: attempt to compare number with Row"),
        ("select(2, pcall(function() return get(2)(1) end))", "test:1: attempt to call a Row value"),
        ("select(2, pcall(function() return #get(2), -get(1) end))", "test:1: attempt to get length of a Row value"),
        ("read{ name = 'x', size = 4, at = meters(2) }", "x 4 2.0 3"), ("read{}", "- - - 0"),
        ("read{ size = 4.0 }", "- 4 - 1"), ("read{ name = 5 }", "- - - 1"), ("read{ size = 4.5 }", "walk"),
        ("read{ other = 1 }", "walk"), ("read{ 1 }", "walk"), ("read{ at = io.stdout }", "walk"),
        ("read{ name = {} }", "walk"), ("read{ name = meters(1) }", "walk"),
    ]

    @Test(arguments: shown) func shows(expression: String, expected: String) throws {
        #expect(try show(expression) == expected)
    }

    @Test func aHandleThatIsHeldStaysTheSameAndADroppedOneCostsNothing() throws {
        _ = try show("(function() kept = {} for i = 1, 3000, 7 do kept[get(i)] = i end end)()")
        state.collectGarbage()
        #expect(
            try show(
                "(function() local n = 0 for i = 1, 3000, 7 do if kept[get(i)] == i then n = n + 1 end end return n end)()"
            ) == "429")
        let before = state.memory.used
        _ = try show("(function() for i = 1, 200000 do local row = get(i % 3000) end end)()")
        state.collectGarbage()
        #expect(state.memory.used < before + 100_000)
        #expect(state.liveObjects < 100)
    }

    @Test("blocks of all sizes that come, grow, shrink and go keep what is in them") func blocks() throws {
        let script = """
            local kept, sum, state = {}, 0, 1
            local function random(n) state = state * 48271 % 2147483647 return state % n end
            local function check(entry)
              for i = 1, entry.n do if entry.list[i] ~= entry.seed + i then return false end end
              return entry.text == string.rep(string.char(97 + entry.seed % 26), entry.n)
            end
            local wrong = 0
            for round = 1, 30000 do
              local place, n = random(500), random(40)
              local old = kept[place]
              if old and not check(old) then wrong = wrong + 1 end
              local entry = { n = n, seed = round, list = {}, text = string.rep(string.char(97 + round % 26), n) }
              for i = 1, n do entry.list[i] = round + i end
              kept[place] = random(3) > 0 and entry or nil
            end
            for _, entry in pairs(kept) do if not check(entry) then wrong = wrong + 1 end end
            kept = nil
            collectgarbage()
            return wrong
            """
        state.collectGarbage()
        let before = state.memory.used
        #expect(try state.load(Array(script.utf8), name: "=blocks").call().first?.integerValue == 0)
        state.collectGarbage()
        #expect(state.memory.used < before + 20_000)
    }

    @Test func swiftSeesObjects() throws {
        let value = rows.value(Row(12))
        #expect(rows.object(of: value)?.number == 12)
        state.globals["given"] = value
        #expect(try show("rawequal(given, get(12))") == "true")
    }
}
