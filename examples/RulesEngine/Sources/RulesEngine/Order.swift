import Lua

final class Product: LuaObject {
    let name: String
    let cents: Int
    var stock: Int

    init(name: String, cents: Int, stock: Int) { (self.name, self.cents, self.stock) = (name, cents, stock) }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Product.self, doc: "What is sold.") {
            LuaProperty("name", \.name)
            LuaProperty("cents", \.cents, doc: "The price of one.")
            LuaProperty("stock", \.stock, doc: "How many there are.")
            LuaOperator(.less, doc: "Whether it is cheaper.") { (a: Product, b: Product) in a.cents < b.cents }
        }
    }
}

final class Line: LuaObject {
    let product: Product
    let count: Int
    /// In percent.
    private(set) var discount = 0

    init(product: Product, count: Int) { (self.product, self.count) = (product, count) }

    var cents: Int { product.cents * count * (100 - discount) / 100 }

    func discount(by percent: Int) throws {
        guard discount + percent <= 30 else { throw PricingError.discountTooLarge(product: product.name) }
        discount += percent
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Line.self, doc: "So many of a product.") {
            LuaProperty("product", \.product)
            LuaProperty("count", \.count)
            LuaProperty("cents", \.cents, doc: "What they cost together, less the discount.")
            LuaMethod("discount", ["percent"], doc: "Takes something off; 30 % at most together.") {
                (line, percent: Int) in try line.discount(by: percent)
            }
        }
    }
}

final class Order: LuaObject {
    let customer: Customer
    private(set) var lines: [Line] = []

    init(customer: Customer) { self.customer = customer }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Order.self, doc: "What a customer orders.") {
            LuaProperty("customer", \.customer)
            LuaProperty("lines", \.lines)
            LuaProperty("cents", get: { $0.lines.reduce(0) { $0 + $1.cents } })
            LuaMethod("add", ["product", "count"], doc: "Adds a line; gives the order.") {
                (order, product: Product, count: Int?) in
                order.lines.append(Line(product: product, count: count ?? 1))
                return order
            }
            LuaStatic("of", ["customer"], doc: "A new order.") { (customer: Customer) in Order(customer: customer) }
            LuaOperator(.length) { (order: Order) in order.lines.count }
        }
    }
}
