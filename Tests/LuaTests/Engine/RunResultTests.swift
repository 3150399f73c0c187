import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

/// Everything that crosses between Lua and Swift is part of a run: its time, its memory, its cancellation, the shutdown.
@Suite("The result of a run")
struct RunResultTests {
    /// A tree of any shape, by value: what is shared in Lua is decoded once.
    enum Tree: Decodable, Sendable {
        case leaf(String)
        case branch([Tree])

        init(from decoder: any Decoder) throws {
            Signal.reached()
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .leaf(text)
            } else {
                // As types of any shape do: a failure is taken for another shape.
                self = .branch((try? container.decode([Tree].self)) ?? [])
            }
        }
    }

    /// A tree of instances: each place gets its own.
    final class Node: Decodable, Sendable {
        let children: [Node]

        init(from decoder: any Decoder) throws {
            Signal.reached()
            var container = try decoder.unkeyedContainer()
            var children: [Node] = []
            while !container.isAtEnd { children.append(try container.decode(Node.self)) }
            self.children = children
        }
    }

    /// Encodes elements without an end.
    struct Endless: Encodable, Sendable {
        var isDeep = false

        func encode(to encoder: any Encoder) throws {
            Signal.reached()
            var container = encoder.unkeyedContainer()
            while true {
                if isDeep { try container.encode(["text"]) } else { try container.encode(1) }
            }
        }
    }

    /// Tells the test that a conversion has begun.
    enum Signal {
        @TaskLocal static var stream: AsyncStream<Void>.Continuation?
        static func reached() { stream?.yield() }
    }

    static let doubled = "local t = {} for i = 1, 40 do t = {t, t} end return t"
    static let oneText = "local s, t = ('x'):rep(1 << 20), {} for i = 1, 10000 do t[i] = s end return t"
    static let cycle = "local t = {} t[1] = t t[2] = t return t"
    static let manyKeys = "local t = {} for i = 1, 10000 do t[i .. ''] = 1 end return {t, t, t, t, t, t, t, t}"

    /// The ways out of Lua, each with the conversion of what `script` returns.
    enum Way: CaseIterable { case result, global, function, argument, state }

    private static func convert<T: Decodable & Sendable>(
        _ engine: LuaEngine, _ script: String, by way: Way, as type: T.Type, timeLimit: Duration? = nil
    ) async throws {
        switch way {
        case .result: _ = try await engine.run(script, as: type, timeLimit: timeLimit)
        case .global:
            try await engine.run("value = (function() \(script) end)()")
            _ = try await engine.global("value", as: type, timeLimit: timeLimit)
        case .function:
            try await engine.run("function made() \(script) end")
            _ = try await engine.function("made")(as: type, timeLimit: timeLimit)
        case .argument:
            try await engine.register("take") { (_: T) in }
            try await engine.run("take((function() \(script) end)())", timeLimit: timeLimit)
        case .state:
            try await engine.withState { state in
                let value = try state.load(script.utf8, name: "=state").call().first ?? .nil
                _ = try LuaDecoder().decode(type, from: value)
            }
        }
    }

    @Test("values that stand for too many are refused, in every way out", arguments: Way.allCases)
    func bombs(way: Way) async throws {
        let watchdog = Watchdog("\(way)", needsTasks: true)
        defer { watchdog.done() }
        // Once with the default, which takes its time to be reached.
        let count = way == .result ? LuaConversionLimits().values : 1 << 18
        let limits = LuaLimits(memory: 4 << 20, conversion: LuaConversionLimits(values: count))
        let engine = try await LuaEngine(limits: limits)
        for script in [Self.doubled, Self.cycle, Self.oneText, Self.manyKeys] {
            _ = try? await Self.convert(engine, script, by: way, as: Tree.self)
            _ = try? await Self.convert(engine, script, by: way, as: [[String: Int]].self)
        }
        let error = await #expect(throws: LuaError.self) {
            try await Self.convert(engine, Self.doubled, by: way, as: Tree.self)
        }
        #expect(error?.message.contains("more than \(count) values") == true)
        let refusal = await #expect(throws: (any Error).self) {
            try await Self.convert(engine, Self.oneText, by: way, as: [String].self)
        }
        let reason = String(describing: refusal)
        #expect(reason.contains("for one conversion") || reason.contains("memory"))
        #expect(try await engine.run("value = nil collectgarbage() return 1", as: Int.self) == 1)
    }

    @Test("a conversion ends at the run's time", arguments: [Way.result, .global, .function, .argument])
    func deadline(way: Way) async throws {
        let watchdog = Watchdog("\(way)", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let error = await #expect(throws: LuaError.self) {
            try await Self.convert(engine, Self.doubled, by: way, as: Node.self, timeLimit: .milliseconds(30))
        }
        #expect(error?.kind == .deadline)
        #expect(try await engine.run("return 1", as: Int.self) == 1)
    }

    @Test("a conversion ends with its task, and with the engine", arguments: Way.allCases, [false, true])
    func stopped(way: Way, byShutdown: Bool) async throws {
        let watchdog = Watchdog("\(way) \(byShutdown)", needsTasks: true)
        defer { watchdog.done() }
        let limits = LuaLimits(conversion: LuaConversionLimits(values: .max))
        let engine = try await LuaEngine(limits: limits)
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let task = Signal.$stream.withValue(begins) {
            Task { try await Self.convert(engine, Self.doubled, by: way, as: Node.self) }
        }
        for await _ in begun { break }
        if byShutdown { await engine.shutdown() } else { task.cancel() }
        let error = await #expect(throws: LuaError.self) { try await task.value }
        #expect(error?.kind == (byShutdown ? .shutdown : .cancelled))
        if !byShutdown { #expect(try await engine.run("return 1", as: Int.self) == 1) }
    }

    /// The ways into Lua.
    enum WayIn: CaseIterable { case global, argument, result, state }

    private static func convert(
        _ engine: LuaEngine, _ value: some Encodable & Sendable, by way: WayIn, timeLimit: Duration? = nil
    ) async throws {
        switch way {
        case .global: try await engine.setGlobal("given", to: value, timeLimit: timeLimit)
        case .argument:
            try await engine.run("function take(value) end")
            try await engine.function("take")(value, timeLimit: timeLimit)
        case .result:
            try await engine.register("give") { () in value }
            try await engine.run("give()", timeLimit: timeLimit)
        case .state: try await engine.withState { _ = try LuaEncoder($0).encode(value) }
        }
    }

    @Test("an encoded value ends at the time, with the task, with the engine", arguments: WayIn.allCases)
    func encoding(way: WayIn) async throws {
        let watchdog = Watchdog("\(way)", needsTasks: true)
        defer { watchdog.done() }
        let unlimited = LuaLimits(conversion: LuaConversionLimits(values: .max))
        let engine = try await LuaEngine(limits: unlimited)
        if way != .state {
            let late = await #expect(throws: LuaError.self) {
                try await Self.convert(engine, Endless(), by: way, timeLimit: .milliseconds(30))
            }
            #expect(late?.kind == .deadline)
        }
        for byShutdown in [false, true] {
            let (begun, begins) = AsyncStream.makeStream(of: Void.self)
            let task = Signal.$stream.withValue(begins) { Task { try await Self.convert(engine, Endless(), by: way) } }
            for await _ in begun { break }
            if byShutdown { await engine.shutdown() } else { task.cancel() }
            let error = await #expect(throws: LuaError.self) { try await task.value }
            #expect(error?.kind == (byShutdown ? .shutdown : .cancelled))
        }
    }

    @Test("what the host gives beyond the memory limit is refused before it is there", arguments: WayIn.allCases)
    func memory(way: WayIn) async throws {
        let watchdog = Watchdog("\(way)", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine(limits: LuaLimits(memory: 4 << 20))
        let environment = try await engine.makeEnvironment()
        let text = String(repeating: "x", count: 40 << 20)
        for attempt in 0..<4 {
            let error = await #expect(throws: LuaError.self) {
                switch attempt {
                case 0: try await Self.convert(engine, text, by: way)
                case 1: try await Self.convert(engine, Data(text.utf8), by: way)
                case 2:
                    try await Self.convert(engine, Array(repeating: "a text of some bytes", count: 1 << 20), by: way)
                default: try await Self.convert(engine, Endless(isDeep: true), by: way)
                }
            }
            #expect(error?.kind == .memory)
            let peak = try await engine.withState { $0.memory.peak }
            #expect(peak < 16 << 20)
            #expect(try await engine.run("given = nil return ('x'):rep(100)", as: String.self).count == 100)
            try await engine.run("local t = {} for i = 1, 1000 do t[i] = {} end", in: environment)
        }
        guard way == .result else { return }
        try await engine.register("large") { () in text }
        #expect(try await engine.run("return tostring(pcall(large))", as: String.self) == "false")
    }

    @Test("what the host assigns without an error is dropped, and the next call says so")
    func dropped() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 4 << 20))
        let text = String(repeating: "x", count: 8 << 20)
        let error = await #expect(throws: LuaError.self) {
            try await engine.withState { $0.globals["large"] = .text(text) }
        }
        #expect(error?.kind == .memory)
        try await engine.withState { state in
            state.globals["large"] = .text(text)
            let refused = #expect(throws: LuaError.self) { try state.load("return 1".utf8, name: "=x").call() }
            #expect(refused?.kind == .memory)
            #expect(state.globals["large"].isNil)
            let function = try state.load("return ...".utf8, name: "=x")
            #expect(throws: LuaError.self) { try function.call(.text(text)) }
            #expect(throws: LuaError.self) { try state.makeThread(function).resume([.text(text)]) }
            #expect(throws: LuaError.self) { try state.makeTable().set("a", .text(text)) }
            #expect(try function.call(1).first?.integerValue == 1)
        }
    }

    @Test("a shared table and a shared text are decoded once, instances one by one")
    func shared() async throws {
        struct Counted: Decodable, Sendable {
            static let count = Mutex(0)
            let name: String
            init(from decoder: any Decoder) throws {
                Self.count.withLock { $0 += 1 }
                name = try decoder.singleValueContainer().decode([String: String].self)["name"] ?? ""
            }
        }
        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
        let all = try await engine.run("local t = {name = 'a'} return {t, t, t, {name = 'b'}}", as: [Counted].self)
        #expect(all.map(\.name) == ["a", "a", "a", "b"])
        #expect(Counted.count.withLock { $0 } == 2)
        let nodes = try await engine.run("local t = {} return {t, t}", as: Node.self)
        #expect(nodes.children[0] !== nodes.children[1])
        let script = "local s, t = ('x'):rep(100000), {} for i = 1, 10000 do t[i] = s end return t"
        let texts = try await engine.run(script, as: [String].self)
        #expect(texts.count == 10000 && texts.allSatisfy { $0.utf8.count == 100_000 })
        let data = try await engine.run(script, as: [Data].self)
        #expect(data.count == 10000 && data[9999].count == 100_000)
        let limited = LuaLimits(conversion: LuaConversionLimits(values: 100, bytes: 1000, depth: 3))
        for (script, part) in [
            ("local t = {} for i = 1, 101 do t[i] = 'x' end return t", "100 values"),
            ("local t = {} for i = 1, 11 do t[i] = ('x'):rep(100) end return t", "1000 bytes"),
        ] {
            let error = await #expect(throws: LuaError.self) {
                try await engine.run(script, as: [String].self, limits: limited)
            }
            #expect(error?.message.contains("more than \(part)") == true)
        }
        await #expect(throws: DecodingError.self) {
            try await engine.run("return {{{{}}}}", as: Node.self, limits: limited)
        }
    }

    @Test("a shutdown and a cancellation end the Lua code of a withState, again and again", arguments: [false, true])
    func stateCode(byShutdown: Bool) async throws {
        let watchdog = Watchdog("withState \(byShutdown)", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await engine.withState { state in
                let endless = try state.load("while true do pcall(error) end".utf8, name: "=endless")
                begins.yield()
                _ = try? endless.call()
                _ = try? endless.call()
                try endless.call()
            }
        }
        for await _ in begun { break }
        if byShutdown { await engine.shutdown() } else { task.cancel() }
        let error = await #expect(throws: LuaError.self) { try await task.value }
        #expect(error?.kind == (byShutdown ? .shutdown : .cancelled))
        if !byShutdown { #expect(try await engine.run("return 1", as: Int.self) == 1) }
    }

    @Test("the limits of output and of call depth have kinds of their own")
    func kinds() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(output: 10, callDepth: 50)) { _ in }
        let deep = "local function f() return 1 + f() end f()"
        for (script, kind) in [
            ("print('0123456789')", LuaError.Kind.output), (deep, .callDepth),
            ("io.write('0123456789', 'a')", .output), ("error('output limit reached (10 bytes)')", .runtime),
            ("pcall(print, '0123456789') error('x')", .runtime),
            ("pcall(function() \(deep) end) error('y')", .runtime),
        ] {
            let error = await #expect(throws: LuaError.self) { try await engine.run(script) }
            #expect(error?.kind == kind, "\(script)")
        }
    }
}
