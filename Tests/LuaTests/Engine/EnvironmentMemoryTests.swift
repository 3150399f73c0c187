import TestSupport
import Testing

@testable import Lua

/// Environments of one engine, each with a limit of its memory.
@Suite("Memory by environment")
struct EnvironmentMemoryTests {
    private static let limit = 1 << 20

    private func makeEngine() async throws -> LuaEngine {
        try await LuaEngine(limits: LuaLimits(memory: 64 << 20)) { _ in }
    }

    /// What all accounts have together, and what the allocator has given out.
    private func sums(_ engine: LuaEngine) async throws -> (accounts: Int, allocator: Int) {
        try await engine.withState { ($0.accountedMemory, $0.memory.used) }
    }

    private func expectBalance(
        _ engine: LuaEngine, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (accounts, allocator) = try await sums(engine)
        #expect(accounts == allocator, comment, sourceLocation: sourceLocation)
    }

    private func collect(_ engine: LuaEngine) async throws {
        // Twice: what has a finalizer goes in the second round.
        for _ in 0..<2 { try await engine.withState { $0.collectGarbage() } }
    }

    // MARK: The limit

    static let excesses = [
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, math.huge do t[i] = ('x'):rep(1000) .. i end",
        "return #('x'):rep(2 << 20)",
        "local t = {} while true do t[#t + 1] = coroutine.wrap(function() coroutine.yield() end) t[#t]() end",
        "local function f() return 1, f() end f()",
        "local t = {} while true do t[#t + 1] = assert(load('return ' .. #t)) end",
        "keep = {} for i = 1, math.huge do keep['name ' .. i] = function() return i end end",
    ]

    @Test("a script beyond its environment's limit gets an error, wherever it is", arguments: excesses)
    func excess(script: String) async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        let error = await #expect(throws: LuaError.self) { try await engine.run(script, in: environment) }
        #expect(error?.kind == .memory)
        #expect(error?.message == "not enough memory (the environment's limit is 1 MB)")
        let memory = try #require(environment.memory)
        #expect(memory.limit == Self.limit && memory.peak < Self.limit + Self.limit / 4)
        #expect((error?.usage?.peakMemory ?? 0) < 4 << 20)
        // What it has not kept is collected, for itself as well.
        try await engine.setGlobal("keep", to: Int?.none, in: environment)
        #expect(try await engine.run("return #('x'):rep(100000)", as: Int.self, in: environment) == 100_000)
        try await expectBalance(engine)
    }

    @Test("a greedy environment does not harm the others of its engine")
    func neighbours() async throws {
        let watchdog = Watchdog("a greedy environment", seconds: 600, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await makeEngine()
        try await engine.register("pause") { () async in await Task.yield() }
        let greedy = try await engine.makeEnvironment(memoryLimit: Self.limit)
        let script = """
            local sum = 0
            total = total or 0
            for round = 1, 5 do
              local t = {}
              for i = 1, 500 do t[i] = { number = number * i } end
              pause()
              for i = 1, 500 do sum = sum + t[i].number end
            end
            total = total + sum
            return total
            """
        let failures = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...3 {
                let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
                try await engine.setGlobal("number", to: number, in: environment)
                group.addTask {
                    for round in 1...20 {
                        let total = try await engine.run(script, as: Int.self, in: environment)
                        #expect(total == round * number * 5 * 125_250)
                    }
                    return 0
                }
            }
            group.addTask {
                var failures = 0
                for round in 0..<40 {
                    let excess = "pause() " + Self.excesses[round % Self.excesses.count]
                    do { try await engine.run(excess, in: greedy) } catch let error as LuaError {
                        let isOwn = error.kind == .memory && error.message.contains("environment")
                        #expect(isOwn, "\(excess): \(error)")
                        failures += 1
                    }
                }
                return failures
            }
            return try await group.reduce(0, +)
        }
        #expect(failures == 40)
        #expect(engine.metrics.failures == [.memory: 40])
        try await expectBalance(engine)
    }

    @Test("a script catches the error and goes on, with what it has left")
    func caught() async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        let script = """
            local failures = 0
            for round = 1, 10 do
              local ok, message = pcall(function() local t = {} while true do t[#t + 1] = { #t } end end)
              if not ok and message == "not enough memory" then failures = failures + 1 end
              local s = ("x"):rep(200000)
              if #s ~= 200000 then error("wrong") end
            end
            local inner = coroutine.wrap(function()
              local ok = pcall(string.rep, "x", 2000000)
              coroutine.yield(ok)
              return "done"
            end)
            return { failures = tostring(failures), coroutine = tostring(inner()), after = inner() }
            """
        let answer = try await engine.run(script, as: [String: String].self, in: environment)
        #expect(answer == ["failures": "10", "coroutine": "false", "after": "done"])
        #expect(environment.memory?.peak ?? 0 > Self.limit / 2)
        try await expectBalance(engine)
    }

    @Test(
        "garbage is collected before anything is refused",
        arguments: [
            "for i = 1, 300 do local s = ('x'):rep(100000) .. i end",
            "for i = 1, 300 do local s = ('x'):rep(250000 + i) end",
            "for i = 1, 300 do local s = ('x'):rep(200000 + i):upper() end",
            "for i = 1, 60 do local t = {} for j = 1, 2000 do t[j] = 'line ' .. i + j end t = table.concat(t, '\\n') end",
            "for i = 1, 60 do local s = ('ab'):rep(40000 + i):gsub('a', 'c') end",
            "for i = 1, 20000 do local co = coroutine.wrap(function() return i end) co() end",
            "for i = 1, 3000 do local f = load('return ' .. i) end",
        ])
    func garbage(script: String) async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        try await engine.run(script, in: environment)
        #expect(environment.memory?.peak ?? .max < Self.limit + Self.limit / 4)
    }

    @Test("the engine's own limit says that it was the engine's")
    func engineLimit() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 4 << 20)) { _ in }
        let environment = try await engine.makeEnvironment(memoryLimit: 16 << 20)
        let error = await #expect(throws: LuaError.self) { try await engine.run(Self.excesses[0], in: environment) }
        #expect(error?.message == "not enough memory (the limit is 4 MB)")
        #expect(try await engine.makeEnvironment().memory == nil)
    }

    @Test("a limit too small for any code is an error, and not more")
    func tiny() async throws {
        let engine = try await makeEngine()
        for limit in [Int.min, -1, 0, 1, 100, 1000] {
            let environment = try await engine.makeEnvironment(memoryLimit: limit)
            let error = await #expect(throws: LuaError.self) {
                try await engine.run("return { 1, 2, 3 }, ('x'):rep(2000)", in: environment)
            }
            #expect(error?.kind == .memory)
        }
        #expect(try await engine.run("return 1", as: Int.self) == 1)
        try await expectBalance(engine)
    }

    // MARK: What is charged

    @Test("what the host gives is charged, and refused beyond the limit")
    func values() async throws {
        let engine = try await makeEngine()
        try await engine.register("large") { (count: Int) in String(repeating: "x", count: count) }
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        try await engine.setGlobal("text", to: String(repeating: "y", count: 300_000), in: environment)
        #expect(environment.memory?.used ?? 0 > 300_000)
        await #expect(throws: LuaError.self) {
            try await engine.setGlobal("more", to: Array(repeating: 1.5, count: 200_000), in: environment)
        }
        #expect(
            try await engine.run("return #text, more == nil", as: (Int, Bool).self, in: environment) == (300_000, true))
        let result = try await engine.run("return #large(300000)", as: Int.self, in: environment)
        #expect(result == 300_000)
        let error = await #expect(throws: LuaError.self) {
            try await engine.run("return #large(900000)", in: environment)
        }
        #expect(error?.kind == .memory && error?.message.contains("the environment's limit") == true)
        // What a run returns takes no more in Swift, either.
        await #expect(throws: LuaError.self) {
            try await engine.run(
                "local t = {} for i = 1, 30000 do t[i] = text end return t", as: [String].self, in: environment)
        }
        #expect(try await engine.run("return #large(900000)", as: Int.self) == 900_000)
        try await expectBalance(engine)
    }

    @Test("calls of an environment's functions are charged to it, whoever calls")
    func functions() async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        try await engine.register("visit") { (body: LuaAsyncFunction) async throws in try await body() }
        try await engine.run("function fill() kept = {} while true do kept[#kept + 1] = {} end end", in: environment)
        let fill = try await engine.function("fill", in: environment)
        for attempt in 0..<2 {
            let error = await #expect(throws: LuaError.self) {
                if attempt == 0 { try await fill() } else { try await engine.run("visit(fill)", in: environment) }
            }
            #expect(error?.message.contains("the environment's limit is 1 MB") == true)
            #expect(environment.memory?.used ?? 0 > Self.limit / 2)
            // Its own code may have nothing left to begin with.
            try await engine.setGlobal("kept", to: Int?.none, in: environment)
            try await engine.run("collectgarbage()", in: environment)
        }
        #expect(environment.memory?.used ?? .max < Self.limit / 4)
    }

    @Test("a module is charged to the environment that loads it")
    func modules() async throws {
        let engine = try await makeEngine()
        let text = "local t = {} for i = 1, 5000 do t[i] = { i } end return t"
        try await engine.register(modules: ["list": LuaChunk(text, name: "@list.lua")])
        let first = try await engine.makeEnvironment(memoryLimit: Self.limit)
        let second = try await engine.makeEnvironment(memoryLimit: Self.limit)
        for environment in [first, second] {
            #expect(try await engine.run("return #require('list')", as: Int.self, in: environment) == 5000)
            #expect(environment.memory?.used ?? 0 > 200_000)
        }
        let small = try await engine.makeEnvironment(memoryLimit: 100_000)
        let error = await #expect(throws: LuaError.self) { try await engine.run("require('list')", in: small) }
        #expect(error?.kind == .memory)
        #expect(try await engine.run("return #require('list')", as: Int.self) == 5000)
    }

    @Test("a block that grows keeps its owner, also in another's time")
    func resized() async throws {
        let engine = try await makeEngine()
        let first = try await engine.makeEnvironment(memoryLimit: 8 << 20)
        let second = try await engine.makeEnvironment(memoryLimit: 8 << 20)
        try await engine.run("list = {} for i = 1, 100 do list[i] = i end", in: first)
        // What only a host can do: one environment's table in another.
        try await engine.withState { state in
            guard case .table(let list) = LuaTable(state: state, reference: first.reference)["list"] else { return }
            LuaTable(state: state, reference: second.reference)["list"] = .table(list)
        }
        let before = try #require(first.memory).used
        try await engine.run("for i = 101, 100000 do list[i] = i end", in: second)
        try await collect(engine)
        #expect(try #require(first.memory).used > before + 1_000_000)
        #expect(try #require(second.memory).used < 100_000)
        try await expectBalance(engine)
        // Small again, and then gone: the first is credited in the second's time.
        try await engine.run("list = nil", in: first)
        try await engine.run("list = nil collectgarbage()", in: second)
        #expect(try #require(first.memory).used <= before)
        try await expectBalance(engine)
    }

    @Test("coroutines are charged to the environment that makes them, and credited when they are collected")
    func coroutines() async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: 8 << 20)
        let before = try #require(environment.memory).used
        try await engine.run(
            """
            list = {}
            for i = 1, 1000 do
              list[i] = coroutine.wrap(function()
                local function deep(n) if n > 0 then return 1 + deep(n - 1) end coroutine.yield() return 0 end
                return deep(20)
              end)
              list[i]()
            end
            """, in: environment)
        #expect(try #require(environment.memory).used > before + 1_000_000)
        try await engine.run("for i = 1, 1000 do if list[i]() ~= 20 then error(i) end end list = nil", in: environment)
        try await collect(engine)
        #expect(try #require(environment.memory).used < before + 50_000)
        try await expectBalance(engine)
    }

    // MARK: Ends

    @Test("what remains of an environment is the engine's, and is freed with the engine's garbage")
    func ended() async throws {
        let engine = try await makeEngine()
        _ = try await engine.run("return 1", as: Int.self)
        try await collect(engine)
        let (before, _) = try await sums(engine)
        for round in 0..<30 {
            let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
            try await engine.run(
                "large = ('x'):rep(200000) t = {} for i = 1, 500 do t[i] = { 'text \(round) ' .. i } end",
                in: environment)
            try await expectBalance(engine)
        }
        _ = try await engine.makeEnvironment()
        try await collect(engine)
        try await expectBalance(engine)
        #expect(try await sums(engine).accounts < before + 200_000)
    }

    @Test("an account can be read when its engine has ended, and from any task while its code runs")
    func read() async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment(memoryLimit: Self.limit)
        let reader = Task {
            var most = 0
            while !Task.isCancelled {
                most = max(most, environment.memory?.used ?? .max)
                await Task.yield()
            }
            return most
        }
        for _ in 0..<50 { try await engine.run("local t = {} for i = 1, 1000 do t[i] = { i } end", in: environment) }
        reader.cancel()
        #expect(await reader.value < Self.limit + Self.limit / 4)
        await engine.shutdown()
        #expect(environment.memory?.used == 0)
        await #expect(throws: LuaError.self) { try await engine.run("return 1", in: environment) }
    }

    @Test("an environment of another engine is not charged")
    func foreign() async throws {
        let (engine, other) = (try await makeEngine(), try await makeEngine())
        let environment = try await other.makeEnvironment(memoryLimit: Self.limit)
        let before = try #require(environment.memory).used
        await #expect(throws: LuaError.self) { try await engine.run("return 1", in: environment) }
        await #expect(throws: LuaError.self) { try await engine.setGlobal("x", to: "long text", in: environment) }
        await #expect(throws: LuaError.self) { try await engine.global("x", as: String.self, in: environment) }
        #expect(try #require(environment.memory).used == before)
    }

    // MARK: The balance

    @Test("the accounts' sum is what the allocator gave out, after any work", arguments: 0..<6)
    func balance(seed: Int) async throws {
        let watchdog = Watchdog("the balance of accounts", seconds: 600, needsTasks: true)
        defer { watchdog.done() }
        var random = TestGenerator(seed: UInt64(seed))
        let engine = try await makeEngine()
        try await engine.register("pause") { () async in await Task.yield() }
        var environments = [LuaEnvironment?](repeating: nil, count: 6)
        let work = """
            local seed = seed
            local function r(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n end
            for i = 1, 60 do
              local k, what = r(40), r(8)
              if what == 0 then values[k] = nil
              elseif what == 1 then values[k] = ("x"):rep(r(3000))
              elseif what == 2 then local t = {} for j = 1, r(200) do t[j] = { j } end values[k] = t
              elseif what == 3 then
                local function f(n) if n > 0 then return 1 + f(n - 1) end coroutine.yield(1) return 0 end
                local co = coroutine.wrap(function() return f(r(60)) end)
                co()
                values[k] = co
              elseif what == 4 and type(values[k]) == "table" then
                local t = values[k]
                for j = 1, r(500) do t[#t + 1] = "s" .. j end
              elseif what == 5 then values[k] = "key" .. r(1000)
              elseif what == 6 then values[k] = load("return " .. r(100000))
              else if r(10) == 0 then pause() end values["k" .. r(200)] = function() return k end end
            end
            """
        for step in 0..<150 {
            let index = Int.random(in: environments.indices, using: &random)
            if environments[index] == nil {
                let isLimited = Int.random(in: 0..<4, using: &random) > 0
                environments[index] =
                    isLimited
                    ? try await engine.makeEnvironment(memoryLimit: 20_000 << Int.random(in: 0..<7, using: &random))
                    : try await engine.makeEnvironment()
                try? await engine.run("values = {}", in: environments[index])
            } else if Int.random(in: 0..<12, using: &random) == 0 {
                environments[index] = nil
                continue
            }
            let environment = environments[index]
            try? await engine.setGlobal("seed", to: Int.random(in: 0..<1 << 30, using: &random), in: environment)
            do { try await engine.run(work, in: environment) } catch {
                #expect(error.kind == .memory && error.message.contains("the environment's limit"), "\(error)")
                environments[index] = nil
            }
            if Int.random(in: 0..<20, using: &random) == 0 { try await collect(engine) }
            try await expectBalance(engine, "in step \(step)")
        }
        environments = []
        _ = try await engine.makeEnvironment()
        try await collect(engine)
        try await expectBalance(engine)
        await engine.shutdown()
    }
}
