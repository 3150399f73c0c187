import Foundation
import Lua
import Synchronization
import TestSupport
import Testing

/// The example of `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Engines: the documented example")
struct DocumentedEngineTests {
    @Test("scripts run among tasks, and the page shows what is printed")
    func example() async throws {
        let printed = Mutex<[String]>([])
        @Sendable func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            printed.withLock { $0.append(line) }
        }

        // Page begins.
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
        } catch let error as LuaError {
            print(error.message)
        }

        // A script that does not end is stopped, by its time limit or with the task that waits for it.
        do {
            try await engine.run("while true do end", timeLimit: .milliseconds(20))
        } catch let error as LuaError {
            print(error.message)
        }
        let task = Task { try await engine.run("while true do end") }
        task.cancel()
        if case .failure(let error as LuaError) = await task.result { print(error.message) }
        await engine.shutdown()
        // Page ends.

        let page = try Self.text("docs/embedding.md", after: "## Lua among tasks\n", until: "\n### ")
        let output = try Self.between("```text\n", "```", in: page)
        #expect(printed.withLock { $0.joined(separator: "\n") } + "\n" == output)
        let own = try Self.text(#filePath, after: "// Page begins.\n", until: "        // Page ends.")
        let code = own.replacingOccurrences(of: "\n        ", with: "\n").dropFirst(8)
        let swift = try Self.between("```swift\n", "```", in: page)
        #expect("import Lua\n\n" + code == swift)
    }

    private static func text(_ path: String, after start: String, until end: String) throws -> String {
        let absolute = path.hasPrefix("/") ? path : "\(Project.root)/\(path)"
        return try between(start, end, in: String(contentsOfFile: absolute, encoding: .utf8))
    }

    private static func between(_ start: String, _ end: String, in text: String) throws -> String {
        let first = try #require(text.range(of: start), "\(start) is missing")
        let last = try #require(text.range(of: end, range: first.upperBound..<text.endIndex), "\(end) is missing")
        return String(text[first.upperBound..<last.lowerBound])
    }
}
