import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

/// Engines that share requests with scripts of all kinds, each with a time limit. `CUBBY_REQUESTS` is the number of healthy requests.
@Suite("A pool of engines")
final class EnginePoolTests: Sendable {
    /// A result of any shape, as the service's.
    enum Answer: Decodable, Sendable {
        case null, boolean(Bool), integer(Int64), number(Double), string(String), array([Answer]), object(
            [String: Answer])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let values = try? container.decode([Answer].self) {
                self = .array(values)
            } else {
                self = .object(try container.decode([String: Answer].self))
            }
        }
    }

    static let healthy = """
        local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
        local lines = {}
        for i = 1, 20 do lines[i] = { name = "line " .. i, price = i * 1.5, stock = stock(i) } end
        return { number = tonumber(query.number), fib = fib(12), lines = lines }
        """

    static let hostile: [(script: String, isRefused: Bool)] = [
        ("local t = {} for i = 1, 40 do t = {t, t} end return t", true),
        ("local s, t = ('x'):rep(1 << 20), {} for i = 1, 10000 do t[i] = s end return t", true),
        ("local t = {} for i = 1, 40 do t = {a = t, b = t} end stock(t)", true),
        ("local t = {} t.t = t return t", true),
        ("return large()", true),
        ("while true do pcall(stock, 1) end", true),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", true),
        ("local t = {} for i = 1, 20000 do t[i] = {i, {i}} end return t", false),
    ]

    private let engines: [LuaEngine]
    private let loads: Mutex<[Int]>

    init() async throws {
        var engines: [LuaEngine] = []
        for _ in 0..<4 {
            let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20)) { _ in }
            try await engine.register("stock", ["product"]) { (product: Int) async -> Int in
                await Task.yield()
                return product * 2
            }
            try await engine.register("large") { () in String(repeating: "x", count: 64 << 20) }
            engines.append(engine)
        }
        self.engines = engines
        loads = Mutex(Array(repeating: 0, count: engines.count))
    }

    /// By the engine that has the fewest.
    private func run(_ source: String, query: [String: String], timeLimit: Duration?) async throws -> Answer {
        let number = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[least] += 1
            return least
        }
        defer { loads.withLock { $0[number] -= 1 } }
        let engine = engines[number]
        let environment = try await engine.makeEnvironment()
        try await engine.setGlobal("query", to: query, in: environment)
        return try await engine.run(
            source, name: "=script", as: Answer.self, in: environment, timeLimit: timeLimit,
            limits: LuaLimits(
                memory: 16 << 20, output: 16 << 10, callDepth: 200,
                conversion: LuaConversionLimits(values: 100_000, bytes: 1 << 20)))
    }

    @Test("each healthy request is answered within its time, whatever the others do")
    func answered() async throws {
        let watchdog = Watchdog("a pool of engines", seconds: 3600, needsTasks: true)
        defer { watchdog.done() }
        let environment = ProcessInfo.processInfo.environment
        let count = environment["CUBBY_REQUESTS"].flatMap { Int($0) } ?? 200
        // The long form has the service's own time; on a busy machine the short form does not judge it.
        let time: Duration? = environment["CUBBY_REQUESTS"] == nil ? nil : .milliseconds(250)
        let hostileTime = Duration.milliseconds(100)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { try await group.next() }
                group.addTask { [self] in
                    guard
                        case .object(let answer) = try await run(
                            Self.healthy, query: ["number": "\(number)"], timeLimit: time),
                        case .integer(let its)? = answer["number"], case .integer(144)? = answer["fib"],
                        case .array(let lines)? = answer["lines"], lines.count == 20
                    else {
                        Issue.record("request \(number) has a wrong answer")
                        return
                    }
                    #expect(its == number)
                }
                guard number % 24 == 0 else { continue }
                let each = Self.hostile[number / 24 % Self.hostile.count]
                group.addTask { [self] in
                    do {
                        _ = try await run(each.script, query: [:], timeLimit: hostileTime)
                        #expect(!each.isRefused, "\(each.script)")
                    } catch { #expect(each.isRefused || error is LuaError, "\(each.script): \(error)") }
                }
            }
            try await group.waitForAll()
        }
        for engine in engines {
            #expect(try await engine.run("collectgarbage() return 1", as: Int.self) == 1)
            await engine.shutdown()
        }
    }
}
