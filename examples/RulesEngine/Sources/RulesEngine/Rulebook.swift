import Lua

/// The rules, which are functions of scripts, in the order in which they were written down.
final class Rulebook: LuaObject {
    private var rules: [(name: String, body: LuaCallback<LuaNothing, Order>)] = []

    /// Has each rule look at an order; gives what the order costs then.
    func price(_ order: Order) throws -> Int {
        for rule in rules { _ = try rule.body(order) }
        return order.lines.reduce(0) { $0 + $1.cents }
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Rulebook.self, doc: "All rules.") {
            LuaMethod("rule", ["name": "", "body": "is called with each order"], doc: "Writes a rule down.") {
                (book, name: String, body: LuaCallback<LuaNothing, Order>) in book.rules.append((name, body))
            }
            LuaMethod("price", ["order"], doc: "What an order costs, in cents.") { (book, order: Order) in
                try book.price(order)
            }
            LuaProperty("names", get: { $0.rules.map(\.name) })
        }
    }
}
