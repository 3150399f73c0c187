import Lua
import Testing

/// Functions in tables: `register("shop.price")`.
@Suite("Functions in namespaces")
struct NamespaceTests {
    private static func make() async throws -> LuaEngine {
        let engine = try await LuaEngine()
        try await engine.register("shop.price", ["name"]) { (name: String) async throws -> Int in name.count }
        try await engine.register("shop.tax.rate") { () -> Double in 0.25 }
        return engine
    }

    private static let script = "return shop.price('desk') .. ' ' .. shop.tax.rate()"

    @Test("are in all environments, made before, between and after them, and in the engine's own")
    func everywhere() async throws {
        let engine = try await LuaEngine()
        var environments: [LuaEnvironment?] = [nil, try await engine.makeEnvironment()]
        try await engine.run("mine = 1")
        try await engine.register("shop.price", ["name"]) { (name: String) async throws -> Int in name.count }
        environments.append(try await engine.makeEnvironment())
        try await engine.register("shop.tax.rate") { () -> Double in 0.25 }
        environments.append(try await engine.makeEnvironment())
        for environment in environments {
            #expect(try await engine.run(Self.script, as: String.self, in: environment) == "4 0.25")
        }
        try await engine.register("shop.price", ["name"]) { (name: String) -> Int in -1 }
        try await engine.register("string.first") { (text: String) -> String in String(text.prefix(1)) }
        try await engine.register("math.half") { (number: Double) -> Double in number / 2 }
        for environment in environments {
            let script = "return shop.price('x') .. ('abc'):first() .. math.half(3) .. math.floor(1.5)"
            #expect(try await engine.run(script, as: String.self, in: environment) == "-1a1.51")
        }
    }

    @Test("are in an environment that is made when the earlier ones are gone")
    func later() async throws {
        let engine = try await LuaEngine()
        try await engine.register("shop.price", ["name"]) { (name: String) async throws -> Int in name.count }
        do {
            let first = try await engine.makeEnvironment()
            #expect(try await engine.run("return shop.price('ab')", as: Int.self, in: first) == 2)
        }
        try await engine.register("shop.tax.rate") { () -> Double in 0.25 }
        let second = try await engine.makeEnvironment()
        #expect(try await engine.run(Self.script, as: String.self, in: second) == "4 0.25")
    }

    @Test("cannot be changed by a script, and take the place of what it has put there")
    func isolated() async throws {
        let engine = try await Self.make()
        let tenant = try await engine.makeEnvironment()
        for (script, name) in [
            ("shop.price = nil", "shop"), ("shop.tax.rate = print", "shop.tax"),
            ("rawset(shop, 'price', 1)", "library"),
        ] {
            let error = await #expect(throws: LuaError.self) { try await engine.run(script, in: tenant) }
            #expect(error?.message.contains("\(name) is read-only") == true, "\(script)")
        }
        try await engine.run("shop = 5", in: tenant)
        #expect(try await engine.run("return shop", as: Int.self, in: tenant) == 5)
        try await engine.register("shop.open") { () -> Bool in true }
        #expect(try await engine.run("return shop.open() and shop.tax.rate()", as: Double.self, in: tenant) == 0.25)
        #expect(try await engine.run(Self.script, as: String.self) == "4 0.25")
    }

    @Test("are refused below what is no table, and without a name, with nothing made on the way")
    func refused() async throws {
        let engine = try await Self.make()
        for (name, reason) in [
            ("shop.price.now", "'shop.price' is a function, not a table"), ("print.all", "'print' is a function"),
            ("shop..now", "a part without a name"), (".x", "a part without a name"), ("x.", "a part without a name"),
        ] {
            let error = await #expect(throws: LuaError.self) { try await engine.register(name) { () -> Int in 1 } }
            #expect(error?.kind == .argument)
            #expect(error?.message.contains("'\(name)' cannot be registered: ") == true, "\(name)")
            #expect(error?.message.contains(reason) == true, "\(name)")
        }
        #expect(try await engine.run("return x == nil and shop.price('ab')", as: Int.self) == 2)
    }

    @Test("have their whole name in errors")
    func errors() async throws {
        let engine = try await Self.make()
        let error = await #expect(throws: LuaError.self) { try await engine.run("shop.price({})", name: "=order") }
        #expect(error?.message.contains("order:1: bad argument #1 'name' to 'shop.price'") == true)
    }
}
