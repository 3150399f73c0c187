import Foundation
import Lua
import Synchronization
import TestSupport
import Testing

/// The examples of `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Engines: the documented examples")
struct DocumentedEngineTests {
    @Test("scripts run among tasks, and the page shows what is printed")
    func example() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Tasks begin.
        struct Order: Codable {
            var product: String
            var count: Int
            var price: Double
            var note: String?
        }

        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20, output: 1 << 16)) { bytes in
            var text = ""
            for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
            print("script:", text.dropLast())
        }

        // Values go in and come out as Codable types.
        try await engine.setGlobal("order", to: Order(product: "Lamp", count: 3, price: 12.5))
        let total = try await engine.run("return order.count * order.price", as: Double.self)
        let changed = try await engine.run("order.note = 'fragile' print(order.product) return order", as: Order.self)
        print(total, changed.note ?? "")

        // Each request has globals of its own, over libraries that it cannot change.
        let first = try await engine.makeEnvironment()
        let second = try await engine.makeEnvironment()
        try await engine.run("secret = 42 print = nil", in: first)
        print(try await engine.run("return secret == nil and print ~= nil", as: Bool.self, in: second))
        do {
            try await engine.run("string.rep = nil", name: "=request", in: first)
        } catch {
            print(error.message)
        }

        // A script that does not end is stopped, by its time limit or with the task that waits for it.
        do {
            try await engine.run("while true do end", timeLimit: .milliseconds(20))
        } catch {
            print(error.message)
        }
        let task = Task { try await engine.run("while true do end") }
        task.cancel()
        if case .failure(let error as LuaError) = await task.result { print(error.message) }
        await engine.shutdown()
        // Tasks end.

        try Self.expectPage("## Lua among tasks\n", name: "Tasks", printed.withLock { $0 })
    }

    @Test("runs have several results, and answer what they used, as the page shows")
    func usage() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Usage begin.
        struct Stock: Codable {
            var name: String
            var count: Int
        }

        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20, output: 1000)) { _ in }

        // Several results have a type each; none is dropped or made up.
        let (stock, note) = try await engine.run(
            "return { name = 'lamp', count = 3 }, nil", as: (Stock, String?).self)
        print(stock.count, stock.name, note ?? "without a note")
        do {
            _ = try await engine.run("return 1, 2, 3", as: (Int, Int).self)
        } catch let error as LuaError {
            print(error.message)
        }

        // What each run used, also one that failed.
        var used = LuaUsage()
        do {
            try await engine.run("print(1) local t = {} while true do t[#t + 1] = {} end", usage: { used = $0 })
        } catch {
            print(error.kind, used.outputBytes, used.peakMemory > 8 << 20, used.cpuTime > .zero)
            print(error.usage?.peakMemory == used.peakMemory)
        }
        // Usage end.

        try Self.expectPage("### Several results, and what a run used\n", name: "Usage", printed.withLock { $0 })
    }

    @Test("environments have limits of their memory, as the page shows")
    func memory() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Memory begin.
        let engine = try await LuaEngine(limits: LuaLimits(memory: 64 << 20))
        let greedy = try await engine.makeEnvironment(memoryLimit: 1 << 20)
        let modest = try await engine.makeEnvironment(memoryLimit: 1 << 20)

        do {
            try await engine.run("local t = {} while true do t[#t + 1] = {} end", in: greedy)
        } catch {
            print(error.kind, error.message)
        }
        // A script may catch it and go on; the other environment is unharmed.
        let script = """
            local ok, message = pcall(string.rep, 'x', 2 << 20)
            notes = ('x'):rep(100000)
            return message .. ', and ' .. #notes
            """
        print(try await engine.run(script, as: String.self, in: modest))
        if let memory = modest.memory {
            print(memory.used > 100_000, memory.peak >= memory.used, memory.limit)
        }
        // Memory end.

        try Self.expectPage("### Memory by environment\n", name: "Memory", printed.withLock { $0 })
    }

    @Test("chunks are compiled once, and require modules of the host, as the page shows")
    func modules() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Modules begin.
        // Compiled once, for all engines and environments. A text that is wrong is an error here.
        let check = try LuaChunk(
            "return require('tax').of(price), require('rules.' .. region).free", name: "=check")
        let tax = try LuaChunk(
            "local rate = 0.25 return { of = function(price) return price * rate end }", name: "@tax.lua")

        // What `require` finds: modules by name, then what a closure gives, here from an actor.
        actor Rules {
            private let texts = ["rules.north": "return { free = 100 }", "rules.south": "return { free = }"]

            func chunk(of name: String) throws -> LuaChunk? {
                guard let text = texts[name] else { return nil }
                return try LuaChunk(text, name: "@\(name)")
            }
        }

        let rules = Rules()
        let engine = try await LuaEngine()
        try await engine.register(modules: ["tax": tax])
        try await engine.register { name in try await rules.chunk(of: name) }

        for region in ["north", "south", "west"] {
            let environment = try await engine.makeEnvironment()
            try await engine.setGlobal("price", to: 80, in: environment)
            try await engine.setGlobal("region", to: region, in: environment)
            do {
                // The request's deadline includes the wait for the engine's thread.
                let (amount, free) = try await engine.run(
                    check, as: (Double, Int).self, in: environment, deadline: .now + .seconds(60))
                print(region, amount, free)
            } catch let error as LuaError {
                print(error.message)
            }
        }

        // Counts and sums, for a server's monitoring.
        let metrics = engine.metrics
        print(metrics.runs, metrics.failures[.runtime] ?? 0, metrics.usage.cpuTime > .zero)
        // Modules end.

        try Self.expectPage("### Chunks compiled once, and modules\n", name: "Modules", printed.withLock { $0 })
    }

    @Test("a run has names of its own, and a slow reader, as the page shows")
    func scope() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Scope begin.
        final class Order: LuaObject, Sendable {
            let price: Int

            init(price: Int) { self.price = price }

            static var luaClass: LuaClassDeclaration {
                LuaClassDeclaration(Order.self) { LuaProperty("price", \.price) }
            }
        }

        let engine = try await LuaEngine()

        // Names that one run has, and that are taken back when it ends.
        var scope = LuaScope()
        scope.set("order", to: Order(price: 40))
        scope.register("rate", ["percent"]) { (percent: Int) in 100 - percent }
        print(try await engine.run("kept = order return order.price * rate(10) // 100", as: Int.self, scope: scope))
        do {
            try await engine.run("return kept.price", name: "=later")
        } catch {
            print(error.message)
        }

        // Output as a sequence: the script waits while its reader is slow, and other runs go on.
        let page = LuaOutputStream(capacity: 1000)
        async let run: Void = engine.run("for i = 1, 1000 do print('line', i) end", output: page.output)
        var (lines, most) = (0, 0)
        for await bytes in page {
            lines += bytes.count { $0 == UInt8(ascii: "\n") }
            most = max(most, bytes.count)
        }
        try await run
        print(lines, most < 1020)
        // Scope end.

        let heading = "### Names of one run, and output for a slow reader\n"
        try Self.expectPage(heading, name: "Scope", printed.withLock { $0 })
    }

    @Test("scripts wait for Swift, and Swift calls scripts, as the page shows")
    func functions() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Functions begin.
        actor Shop {
            private let prices = ["lamp": 40, "desk": 120]

            func price(of name: String) throws -> Int {
                guard let price = prices[name] else { throw LuaError(.runtime, "there is no \(name)") }
                return price
            }
        }

        let shop = Shop()
        let engine = try await LuaEngine()
        try await engine.register("price", ["name"], doc: "The shop's price.") { (name: String) async throws -> Int in
            try await shop.price(of: name)
        }
        try await engine.register("shop.vat", doc: "The tax on a price, in a table of the shop's.") { (price: Double) in
            price / 4
        }
        try await engine.register("visit", ["names", "body"]) {
            (names: [String], body: LuaAsyncFunction) async throws in
            for name in names { try await body(name, shop.price(of: name)) }
        }

        // The script waits at the line of the call, where an error can be caught; other runs of the engine go on.
        let script = """
            local total = price("lamp") + shop.vat(40)
            visit({ "lamp", "desk" }, function(name, price) total = total + price end)
            local ok, reason = pcall(function() return price("boat") end)
            return { total = tostring(total), reason = reason }
            """
        let answer = try await engine.run(script, name: "=order", as: [String: String].self)
        print(answer["total"] ?? "", answer["reason"] ?? "")

        // A function of a script, called from any task.
        try await engine.run("function reduced(price) return price * 0.9 end")
        let reduced = try await engine.function("reduced")
        print(try await reduced(200, as: Double.self))

        // The time limit covers waits. The closure's task is cancelled.
        try await engine.register("ask") { () async throws in try await Task.sleep(for: .seconds(3600)) }
        do {
            try await engine.run("while true do pcall(ask) end", timeLimit: .milliseconds(20))
        } catch {
            print(error.message)
        }
        // Functions end.

        try Self.expectPage("### Functions that wait\n", name: "Functions", printed.withLock { $0 })
    }

    private static func expectPage(_ heading: String, name: String, _ printed: [String]) throws {
        let page = try DocumentedText.file("docs/embedding.md", after: heading, until: "\n### ")
        let output = try DocumentedText.between("```text\n", "```", in: page)
        #expect(printed.joined(separator: "\n") + "\n" == output)
        let own = try DocumentedText.file(#filePath, after: "// \(name) begin.\n", until: "        // \(name) end.")
        let code = own.replacingOccurrences(of: "\n        ", with: "\n").dropFirst(8)
        let swift = try DocumentedText.between("```swift\n", "```", in: page)
        #expect("import Lua\n\n" + code == swift)
    }
}
