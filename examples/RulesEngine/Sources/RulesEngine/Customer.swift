import Lua

class Customer {
    enum Tier: String, CaseIterable, LuaRepresentable { case regular, silver, gold }

    let name: String
    let tier: Tier

    init(name: String, tier: Tier) { (self.name, self.tier) = (name, tier) }

    class var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Customer.self, doc: "Who orders.") {
            LuaProperty("name", \.name)
            LuaProperty("tier", \.tier, doc: "How well we know them.")
            LuaStatic("new", ["name", "tier"], doc: "A customer; regular if not said.") { (name: String, tier: Tier?) in
                Customer(name: name, tier: tier ?? .regular)
            }
            LuaOperator(.text) { (customer: Customer) in customer.name }
        }
    }
}

extension Customer: LuaObject {}

/// A customer who orders for a business.
final class Business: Customer {
    let taxNumber: String

    init(name: String, tier: Tier, taxNumber: String) {
        self.taxNumber = taxNumber
        super.init(name: name, tier: tier)
    }

    override class var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Business.self, doc: "Who orders for a business.", extending: Customer.self) {
            LuaProperty("taxNumber", \.taxNumber)
            LuaStatic("new", ["name", "tier", "taxNumber"]) { (name: String, tier: Tier, number: String) in
                Business(name: name, tier: tier, taxNumber: number)
            }
        }
    }
}
