import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

/// What could break the bridge: memory that runs out at any moment, errors across Swift's frames, loops without end.
@Suite("Safety", .serialized) struct LuaSafetyTests {
    @Test("a script over its memory limit gets an error, the host goes on") func memoryLimit() throws {
        let fixture = try Fixture(limits: LuaLimits(memory: 2_000_000))
        let error = #expect(throws: LuaError.self) {
            try fixture.run("local t = {} while true do t[#t + 1] = Counter(1) end")
        }
        #expect(error?.kind == .memory)
        fixture.state.collectGarbage()
        #expect(try fixture.show("string.rep('x', 10)") == "xxxxxxxxxx")
        let second = #expect(throws: LuaError.self) { try fixture.run("return string.rep('x', 1 << 40)") }
        #expect(second != nil)
    }

    @Test("small blocks alone are told of near the limit, and refused at it")
    func smallBlocks() throws {
        let fixture = try Fixture(limits: LuaLimits(memory: 4_000_000))
        defer { fixture.state.close() }  // its handler holds the fixture
        var used: [Int] = []
        fixture.state.interruptHandler = { [state = fixture.state] reasons in
            if reasons.contains(.memory) { used.append(state.memory.used) }
            return .resume
        }
        // A chain of tables, none of which grows.
        let error = #expect(throws: LuaError.self) {
            try fixture.run("local chain while true do chain = { chain } end")
        }
        #expect(error?.kind == .memory)
        #expect(fixture.state.memory.used <= 4_000_000)
        try #require(!used.isEmpty)
        #expect((3_000_000...3_100_000).contains(used[0]), "\(used)")
        fixture.state.collectGarbage()
        let told = used.count
        #expect(throws: LuaError.self) { try fixture.run("local chain while true do chain = { chain } end") }
        #expect(used.count > told)
    }

    @Test("a thousand errors across Swift leak nothing") func errorsDoNotLeak() throws {
        let tally = Counter.Tally()
        do {
            let fixture = try Fixture(tally: tally)
            try fixture.run("for i = 1, 1000 do pcall(call, function() Counter():refuse('x') end) end")
            fixture.state.collectGarbage()
            #expect(fixture.state.liveObjects < 20)
        }
        #expect(tally.living == 0)
    }

    @Test(
        "an endless script is stopped by its deadline, and the state goes on",
        arguments: [
            "while true do end", "while true do pcall(function() while true do end end) end",
            "local co = coroutine.wrap(function() while true do end end) co()",
            "while true do xpcall(function() while true do end end, function() while true do end end) end",
            "local t <close> = setmetatable({}, { __close = function() while true do end end }) ",
            "table.sort({ 3, 2, 1, 5, 4 }, function() while true do end end)",
            "string.gsub('aaa', 'a', function() while true do end end)",
            "local co = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(co) end",
            "call(function() while true do pcall(call, function() while true do end end) end end)",
            "for i in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end",
        ])
    func deadlines(script: String) throws {
        let fixture = try Fixture()
        fixture.state.interruptHandler = { reasons in
            reasons.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .resume
        }
        fixture.state.setDeadline(.seconds(0.02))
        let error = try #require(#expect(throws: LuaError.self) { try fixture.run(script) })
        fixture.state.setDeadline(nil)
        #expect(error.kind == .deadline)
        #expect(try fixture.show("1 + 1") == "2")
    }

    @Test("an interrupt from another thread runs the handler in the middle of a loop, and the chunk goes on")
    func interruption() throws {
        let fixture = try Fixture()
        defer { fixture.state.close() }  // its handler holds the fixture
        var seen = 0
        fixture.state.interruptHandler = { _ in
            seen += 1
            fixture.state.globals["stop"] = true
            return .resume
        }
        let interrupter = fixture.state.interrupter
        let thread = Thread { interrupter.interrupt(.events) }
        thread.start()
        try fixture.run("while not rawget(_G, 'stop') do end")
        #expect(seen == 1)
    }

    @Test("a value may be dropped on any thread") func droppedElsewhere() throws {
        let fixture = try Fixture()
        let held = Mutex<LuaReference?>(nil)
        do {
            let reference = fixture.state.makeTable().reference
            held.withLock { $0 = reference }
            fixture.state.globals["value"] = .table(LuaTable(state: fixture.state, reference: reference))
        }
        try fixture.run("seen = setmetatable({ value }, { __mode = 'v' }) value = nil")
        fixture.state.collectGarbage()
        #expect(try fixture.show("#seen") == "1")
        OwnThread.run { held.withLock { $0 = nil } }
        // The state gives it up when it is entered next.
        try fixture.run("")
        fixture.state.collectGarbage()
        #expect(try fixture.show("#seen") == "0")
    }

    @Test("a state goes with its last reference, and a closed one whatever its functions hold") func lifetime() throws {
        weak var state: LuaState?
        do {
            let dropped = try LuaState()
            _ = try dropped.load(Array("return 1".utf8), name: "=t").call()
            state = dropped
        }
        #expect(state == nil)
        do {
            let closed = try LuaState()
            let table = closed.makeTable()
            let answer = closed.makeFunction(LuaFunctionDeclaration("f", [])) { call in call.returns(.table(table)) }
            closed.globals["f"] = .function(answer)
            closed.interruptHandler = { _ in closed.depth > 0 ? .resume : .stop(LuaError(.cancelled, "no"), depth: 1) }
            closed.close()
            state = closed
        }
        #expect(state == nil)
    }
}
