import Testing

@testable import Lua

@Suite("Environments")
struct LuaEnvironmentTests {
    private static let look =
        "local ok, x = pcall(function() return select(2, pcall(fail)).x end) return ok and x or nil"

    /// Attempts to leave a trace outside of one's globals, and how another environment would see it.
    private static let trials: [(String, String)] = [
        ("x = 1", "return x"),
        ("_G.x = 1", "return x"),
        ("load('x = 1')()", "return x"),
        ("load(function() local t = text text = nil return t end)() ", "return x"),
        ("string.x = 1", "return string.x"),
        ("rawset(string, 'x', 1)", "return string.x"),
        ("table.insert(string, 1)", "return string[1]"),
        ("table.move({1}, 1, 1, 1, string)", "return string[1]"),
        ("setmetatable(string, {__index = {x = 1}})", "return string.x"),
        ("getmetatable(string).x = 1", "return string.x"),
        ("getmetatable(string).__index.x = 1", "return string.x"),
        ("getmetatable('').__index.x = 1", "return ('').x"),
        ("string.rep = nil", "return string.rep == nil or nil"),
        ("for k in pairs(string) do string[k] = nil end", "return string.rep == nil or nil"),
        ("for k in next, string do string[k] = nil end", "return string.rep == nil or nil"),
        ("print = 1", "return type(print) == 'number' or nil"),
        ("shared.x = 1", "return shared.x"),
        ("shared.inner.x = 1", "return shared.inner.x"),
        ("rawset(shared.inner, 'x', 1)", "return shared.inner.x"),
        ("getmetatable(select(2, pcall(fail))).x = 1", look),
        ("getmetatable(select(2, pcall(fail))).__index = {x = 1}", look),
        ("collectgarbage('stop')", "return not collectgarbage('isrunning') or nil"),
        ("collectgarbage('generational')", "return nil"),
        ("local co = coroutine.running() x = co", "return x"),
        ("io.write = 1", "return type(io.write) == 'number' or nil"),
        ("os.time = nil", "return os.time == nil or nil"),
    ]

    struct Refused: Error {}

    private func makeEngine() async throws -> LuaEngine {
        let engine = try await LuaEngine()
        try await engine.withState { state in
            let shared = state.makeTable()
            shared["inner"] = .table(state.makeTable())
            state.globals["shared"] = .table(shared)
            let fail = state.makeFunction(LuaFunctionDeclaration("fail")) { _ in throw Refused() }
            state.globals["fail"] = .function(fail)
        }
        return engine
    }

    @Test("nothing that one run does is seen in another environment", arguments: trials)
    func crosstalk(attempt: String, look: String) async throws {
        let engine = try await makeEngine()
        let before = try await engine.makeEnvironment()
        let attacker = try await engine.makeEnvironment()
        try await engine.setGlobal("text", to: "x = 1", in: attacker)
        try? await engine.run(attempt, in: attacker)
        let after = try await engine.makeEnvironment()
        for environment in [before, after, nil] {
            #expect(try await engine.run(look, as: Int?.self, in: environment) == nil)
        }
    }

    @Test("random numbers of one environment do not depend on another's seed")
    func random() async throws {
        let engine = try await makeEngine()
        let first = try await engine.makeEnvironment()
        let second = try await engine.makeEnvironment()
        let chunk = "return {math.random(1 << 60), math.random(1 << 60)}"
        try await engine.run("math.randomseed(7)", in: first)
        let seeded = try await engine.run(chunk, as: [Int].self, in: first)
        try await engine.run("math.randomseed(7)", in: first)
        #expect(try await engine.run(chunk, as: [Int].self, in: second) != seeded)
        #expect(try await engine.run(chunk, as: [Int].self, in: first) == seeded)
    }

    @Test("libraries work as they do without an environment")
    func libraries() async throws {
        let engine = try await makeEngine()
        let environment = try await engine.makeEnvironment()
        let chunk = """
            local names = {}
            for name in pairs(string) do names[#names + 1] = name end
            x = 5
            return {("a"):upper(), table.concat({1, 2}, "-"), tostring(#names > 10), tostring(load("return x")()),
                tostring(load("return x", "=x", "t", {x = 6})()), tostring(math.type(math.random(3))), type(shared.inner),
                tostring(rawset({}, 1, 2)[1]), tostring(_G.x == _G._G.x)}
            """
        let results = try await engine.run(chunk, as: [String].self, in: environment)
        #expect(results == ["A", "1-2", "true", "5", "6", "integer", "table", "2", "true"])
    }

    @Test("an environment is of one engine, and its globals are freed with it")
    func owner() async throws {
        let engine = try await makeEngine()
        let other = try await makeEngine()
        let foreign = try await other.makeEnvironment()
        let error = await #expect(throws: LuaError.self) { try await engine.run("", in: foreign) }
        #expect(error?.kind == .argument)
        let used = try await engine.withState {
            $0.collectGarbage(); return $0.memory.used
        }
        for _ in 0..<50 {
            let environment = try await engine.makeEnvironment()
            try await engine.run("t = ('x'):rep(1 << 16)", in: environment)
        }
        try await engine.run("collectgarbage()")
        let now = try await engine.withState {
            $0.collectGarbage(); return $0.memory.used
        }
        #expect(now < used + (1 << 17))
    }

    @Test(
        "a registered function replaces any name, in earlier and later environments",
        arguments: ["print", "load", "collectgarbage", "rawset", "pairs", "math", "io", "_G", "own"])
    func replaced(name: String) async throws {
        let engine = try await LuaEngine()
        let earlier = try await engine.makeEnvironment()
        _ = try await engine.run("return 1", as: Int.self)
        try await engine.register(name) { () in "mine" }
        let later = try await engine.makeEnvironment()
        for environment in [nil, earlier, later] {
            #expect(try await engine.run("return \(name)()", as: String.self, in: environment) == "mine")
        }
    }

    @Test("what the host puts into the state's globals is what environments have")
    func hostsGlobals() async throws {
        let engine = try await LuaEngine()
        try await engine.withState { state in
            let mine = state.makeFunction(LuaFunctionDeclaration("mine", [])) { $0.returns("mine") }
            state.globals["print"] = .function(mine)
            guard case .table(let math) = state.globals["math"] else { return }
            math["sqrt"] = .function(mine)
            math["tau"] = 6
        }
        let environment = try await engine.makeEnvironment()
        let script = "return {print(), math.sqrt(), tostring(math.tau), tostring(math.floor(1.5))}"
        #expect(try await engine.run(script, as: [String].self, in: environment) == ["mine", "mine", "6", "1"])
    }

    @Test("a later environment has what the host has changed in libraries, an earlier one has not")
    func changedLibraries() async throws {
        let engine = try await LuaEngine { _ in }
        let earlier = try await engine.makeEnvironment()
        try await engine.withState { state in
            let mine = state.makeFunction(LuaFunctionDeclaration("mine")) { $0.returns("mine") }
            for (library, name) in [("math", "randomseed"), ("io", "shout")] {
                guard case .table(let table) = state.globals[library] else { continue }
                table[name] = .function(mine)
            }
        }
        let later = try await engine.makeEnvironment()
        let script = "io.write('') return {type(io.shout), tostring(math.randomseed()), math.type(math.random(3))}"
        #expect(try await engine.run(script, as: [String].self, in: later) == ["function", "mine", "integer"])
        #expect(try await engine.run("return type(io.shout)", as: String.self, in: earlier) == "nil")
        #expect(try await engine.run("return math.randomseed(1) ~= 'mine'", as: Bool.self, in: earlier))
    }

    @Test("environments begin with different random numbers")
    func randomBegin() async throws {
        let engine = try await LuaEngine()
        var numbers: Set<Int> = []
        for _ in 0..<10 {
            let environment = try await engine.makeEnvironment()
            numbers.insert(try await engine.run("return math.random(1 << 60)", as: Int.self, in: environment))
        }
        #expect(numbers.count == 10)
    }
}
