import Lua
import Synchronization
import TestSupport
import Testing

@Suite("Names of one run")
struct LuaScopeTests {
    private final class Order: LuaObject, Sendable {
        private let amount = Mutex(100)

        var total: Int {
            get { amount.withLock { $0 } }
            set { amount.withLock { $0 = newValue } }
        }

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Order.self) {
                LuaProperty("total", \.total)
                LuaMethod("add", ["amount"]) { (order, amount: Int) in order.total += amount }
                LuaMethod("take", ["other"]) { (order, other: Order) in order.total += other.total }
                LuaOperator(.length) { (order: Order) in order.total }
            }
        }
    }

    private func scope(_ order: Order) -> LuaScope {
        var scope = LuaScope()
        scope.set("order", to: order)
        scope.register("rate", ["percent"]) { (percent: Int) in percent * 2 }
        scope.register("later", ["percent"]) { (percent: Int) async in
            await Task.yield()
            return percent * 3
        }
        return scope
    }

    @Test("the chunk has them before its globals; nobody else has them")
    func names() async throws {
        let engine = try await LuaEngine()
        let order = Order()
        let script = """
            order:add(rate(5)) order.total = order.total + later(1) shared = 7
            return {order.total, #order, _G.order == nil and 1 or 0, load("return order")() == nil and 1 or 0}
            """
        try await engine.setGlobal("rate", to: "the environment's")
        #expect(try await engine.run(script, as: [Int].self, scope: scope(order)) == [113, 113, 1, 1])
        #expect(order.total == 113)
        let chunk = try LuaChunk("return order.total, shared")
        let (total, shared) = try await engine.run(chunk, as: (Int, Int).self, scope: scope(order))
        #expect(total == 113 && shared == 7)
        let results = try await engine.run("return {type(order), rate, tostring(shared)}", as: [String].self)
        #expect(results == ["nil", "the environment's", "7"])
    }

    @Test("two runs at once have their own")
    func runs() async throws {
        let watchdog = Watchdog("runs", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let totals = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...20 {
                group.addTask {
                    let order = Order()
                    order.total = number
                    let script = "local sum = 0 for i = 1, 5 do later(1) sum = sum + order.total end return sum"
                    return try await engine.run(script, as: Int.self, scope: scope(order))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(totals.sorted() == (1...20).map { $0 * 5 })
    }

    @Test(
        "what a script has kept raises an error once its run has ended, and no object is held",
        arguments: ["", "error('x')", "while true do end"])
    func revoked(ending: String) async throws {
        let watchdog = Watchdog(ending, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        weak var released: Order?
        do {
            let order = Order()
            released = order
            try? await engine.run(
                """
                kept, add, asked, waited = order, order.add, rate, later
                function total() return order.total end
                \(ending)
                """, timeLimit: ending.hasPrefix("while") ? .seconds(2) : nil, scope: scope(order))
        }
        #expect(released == nil)
        let uses = [
            "return kept.total", "kept.total = 1", "kept:add(1)", "return total()", "kept()",
        ]
        for use in uses {
            let error = await #expect(throws: LuaError.self) { try await engine.run(use, scope: scope(Order())) }
            #expect(error?.message.hasSuffix("'order' was given to a run that has ended") == true, "\(use)")
        }
        // The error of an argument has it in brackets.
        for use in ["add(kept, 1)", "order:take(kept)"] {
            let error = await #expect(throws: LuaError.self) { try await engine.run(use, scope: scope(Order())) }
            let message = error?.message ?? ""
            #expect(message.contains("'order' was given to a run that has ended"), "\(use): \(message)")
        }
        for (function, name) in [("asked", "rate"), ("waited", "later")] {
            let error = await #expect(throws: LuaError.self) { try await engine.run("\(function)(1)") }
            #expect(error?.message.hasSuffix("'\(name)' was given to a run that has ended") == true)
        }
        let text = "return type(kept) .. tostring(kept ~= nil) .. tostring(pcall(function() return #kept end))"
        #expect(try await engine.run(text, as: String.self) == "userdatatruefalse")
    }

    @Test("the same object is not taken from those who have it otherwise")
    func shared() async throws {
        let engine = try await LuaEngine()
        let order = Order()
        try await engine.withState { $0.setGlobal("order", to: order) }
        try await engine.run("kept = order", scope: scope(order))
        #expect(try await engine.run("return order.total", as: Int.self) == 100)
        await #expect(throws: LuaError.self) { try await engine.run("return kept.total", as: Int.self) }
        await engine.shutdown()
        let error = await #expect(throws: LuaError.self) { try await engine.run("", scope: scope(order)) }
        #expect(error?.kind == .shutdown)
    }
}
