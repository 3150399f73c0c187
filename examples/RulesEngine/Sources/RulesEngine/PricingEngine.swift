import Lua

/// Prices orders on an engine of its own: any task may ask, and stop what it asked for.
struct PricingEngine {
    private let engine: LuaEngine

    init(rules: String) async throws {
        engine = try await LuaEngine(limits: LuaLimits(memory: 8 << 20, callDepth: 100))
        try await engine.withState { state in
            state.keepsFrames = true
            let classes: [any LuaObject.Type] = [
                Customer.self, Business.self, Product.self, Line.self, Order.self, Rulebook.self,
            ]
            for type in classes { state.addClass(type) }
            state.setGlobal("rules", to: Rulebook())
            state.setGlobal("lamp", to: Product(name: "Lamp", cents: 4_000, stock: 20))
            state.setGlobal("chair", to: Product(name: "Chair", cents: 12_050, stock: 4))
        }
        try await engine.run(rules, name: "@rules.lua")
    }

    /// What an order costs, in cents. The order is a script: `Order.of(Customer.new("Ada")):add(lamp, 12)`.
    ///
    /// - Throws: `RuleViolation` of a rule, `PricingError` of Swift, or the `LuaError` of a mistake.
    func price(_ order: String) async throws -> Int {
        do {
            return try await engine.run("return rules:price(\(order))", as: Int.self, timeLimit: .seconds(5))
        } catch let error as LuaError {
            if let refusal = error.underlying as? PricingError { throw refusal }
            let violation = try? await engine.withState { state in
                try LuaDecoder().decode(RuleViolation.self, from: state.value(of: error) ?? .nil)
            }
            throw violation ?? error
        }
    }
}
