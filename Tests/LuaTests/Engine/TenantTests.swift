import Foundation
import Lua
import Synchronization
import TestSupport
import Testing

/// Tenants of one server, each with an engine of its own as in `examples/ScriptService`; one of them is greedy.
/// `CUBBY_TENANT_RUNS` is the number of runs, and has the figures printed.
@Suite("Tenants of a server")
final class TenantTests: Sendable {
    struct Answer: Decodable, Equatable, Sendable {
        var number: Int
        var fib: Int
        var stock: [Int]
        var isAlone: Bool
    }

    /// A table of tables, of any depth.
    struct Nested: Decodable, Sendable {
        let parts: [Nested]

        init(from decoder: any Decoder) throws {
            parts = (try? decoder.singleValueContainer().decode([Nested].self)) ?? []
        }
    }

    static let modest = """
        local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
        local before = seen
        seen = number
        local lamps = {}
        for i = 1, 5 do lamps[i] = stock(number + i) end
        print(number % 10)
        return { number = number, fib = fib(12), stock = lamps, isAlone = before == nil and seen == number }
        """

    /// What takes all the time, memory, output, calls and values that there are, and the error that it must be.
    static let excesses: [(script: String, kind: LuaError.Kind)] = [
        ("while true do pcall(error) end", .deadline),
        ("local t = {} while true do t[#t + 1] = {} end", .memory),
        ("while true do print(('x'):rep(1000)) end", .output),
        ("local function f() return 1 + f() end return f()", .callDepth),
        ("local s = 'x' while true do s = s .. s end", .memory),
        ("local t = {} for i = 1, 40 do t = { t, t } end return t", .memory),
    ]

    private let others: [LuaEngine]
    private let greedy: LuaEngine

    init() async throws {
        func engine() async throws -> LuaEngine {
            let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20)) { _ in }
            try await engine.register("stock", ["product"]) { (product: Int) async -> Int in
                await Task.yield()
                return product * 2
            }
            return engine
        }
        others = [try await engine(), try await engine(), try await engine()]
        greedy = try await engine()
    }

    private static let limits = LuaLimits(
        memory: 16 << 20, output: 16 << 10, callDepth: 200,
        conversion: LuaConversionLimits(values: 100_000, bytes: 1 << 20))

    /// A run of one of the others, whose answer has to be its own.
    private func runModest(_ number: Int) async throws {
        let engine = others[number % others.count]
        let environment = try await engine.makeEnvironment()
        try await engine.setGlobal("number", to: number, in: environment)
        let answer = try await engine.run(Self.modest, as: Answer.self, in: environment, limits: Self.limits)
        let stock = (1...5).map { (number + $0) * 2 }
        #expect(answer == Answer(number: number, fib: 144, stock: stock, isAlone: true))
    }

    /// A run of the greedy tenant, which must fail as it should.
    private func runExcess(_ number: Int) async throws {
        let each = Self.excesses[number % Self.excesses.count]
        let environment = try await greedy.makeEnvironment()
        let error = await #expect(throws: LuaError.self) {
            try await greedy.run(
                each.script, as: Nested.self, in: environment,
                // What has an end of its own is not to be stopped before, on a busy machine either.
                timeLimit: each.kind == .deadline ? .milliseconds(20) : nil, limits: Self.limits)
        }
        #expect(error?.kind == each.kind, "\(each.script): \(String(describing: error))")
    }

    /// Numbers that several tasks take, each once.
    private final class Numbers: Sendable {
        private let rest: Mutex<Range<Int>>

        init(_ numbers: Range<Int>) { rest = Mutex(numbers) }

        func next() -> Int? { rest.withLock { $0.popFirst() } }
    }

    /// As many at once as there are workers, each of which takes the next number.
    private func run(
        _ numbers: Range<Int>, workers: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> [Duration] {
        let numbers = Numbers(numbers)
        return try await withThrowingTaskGroup(of: [Duration].self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var times: [Duration] = []
                    while let number = numbers.next() {
                        let start = ContinuousClock.now
                        try await body(number)
                        times.append(.now - start)
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// None of the others lacked anything, and each wrote what it wrote.
    private func checkOthers(_ count: Int) {
        let metrics = others.map(\.metrics)
        #expect(metrics.map(\.runs).reduce(0, +) == count)
        #expect(metrics.map(\.usage.outputBytes).reduce(0, +) == count * 2)
        for each in metrics {
            #expect(each.failures.isEmpty && each.conversionFailures == 0 && each.activeRuns == 0)
            #expect(each.usage.peakMemory < 8 << 20)
        }
    }

    @Test("all runs of the others begin and end while the greedy one's thread is busy")
    func besideEndless() async throws {
        let watchdog = Watchdog("beside an endless script", seconds: 600, needsTasks: true)
        defer { watchdog.done() }
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let endless = Task {
            try await greedy.run("print() while true do pcall(error) end", output: { _ in starts.yield() })
        }
        for await _ in started { break }
        // They wait for the thread of their own tenant, and for no other.
        let waiting = (0..<12).map { number in
            Task { try await greedy.run("return \(number)", as: Int.self) }
        }
        _ = try await run(0..<120, workers: 48) { try await self.runModest($0) }
        checkOthers(120)
        let busy = greedy.metrics
        #expect(busy.runs == 0 && busy.activeRuns >= 1)
        endless.cancel()
        await #expect(throws: LuaError.self) { try await endless.value }
        for (number, task) in waiting.enumerated() { #expect(try await task.value == number) }
        #expect(greedy.metrics.failures == [.cancelled: 1] && greedy.metrics.runs == 13)
    }

    @Test("64 at once: the others' answers are right and their runs complete, and each excess ends as its own")
    func mixed() async throws {
        let watchdog = Watchdog("tenants", seconds: 3600, needsTasks: true)
        defer { watchdog.done() }
        let given = ProcessInfo.processInfo.environment["CUBBY_TENANT_RUNS"].flatMap { Int($0) }
        let total = max(given ?? 300, 60)
        let (first, excesses) = (total * 3 / 10, total / 10)
        let alone = try await run(0..<first, workers: 48) { try await self.runModest($0) }
        async let taken = run(0..<excesses, workers: 16) { try await self.runExcess($0) }
        let beside = try await run(first..<total - excesses, workers: 48) { try await self.runModest($0) }
        _ = try await taken

        checkOthers(total - excesses)
        var expected: [LuaError.Kind: Int] = [:]
        for number in 0..<excesses { expected[Self.excesses[number % Self.excesses.count].kind, default: 0] += 1 }
        let metrics = greedy.metrics
        #expect(metrics.runs == excesses && metrics.failures == expected && metrics.conversionFailures == 0)
        // The limit, and an eighth of it for short values of the host.
        #expect(metrics.usage.peakMemory > 8 << 20 && metrics.usage.peakMemory < 19 << 20)
        // It is none the worse itself.
        #expect(try await greedy.run("return stock(21)", as: Int.self) == 42)
        if given != nil { printFigures(alone, beside) }
        for engine in others + [greedy] { await engine.shutdown() }
    }

    private func printFigures(_ alone: [Duration], _ beside: [Duration]) {
        for (name, times) in [("alone", alone.sorted()), ("beside the greedy one", beside.sorted())] {
            print(
                "\(name): \(times.count) runs, \(times[times.count / 2]) in the median, \(times[times.count * 99 / 100])"
            )
        }
        for (name, engine) in zip(["north", "east", "south", "west, greedy"], others + [greedy]) {
            let used = engine.metrics
            print(
                "\(name): \(used.runs) runs, \(used.usage.cpuTime), \(used.usage.peakMemory >> 10) KB at most,",
                "\(used.usage.outputBytes) bytes written, \(used.failures)")
        }
    }
}
