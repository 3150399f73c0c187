import Lua

/// A program whose rules are scripts: classes, an enum, callbacks, errors both ways, cancellation, and a look at a mistake.
@main
enum RulesEngine {
    static let rules = """
        rules:rule("stock", function(order)
          for _, line in ipairs(order.lines) do
            if line.count > line.product.stock then error{ code = "outOfStock", product = line.product.name } end
          end
        end)

        rules:rule("bulk", function(order)
          for _, line in ipairs(order.lines) do
            if line.count >= 10 then line:discount(10) end
          end
        end)

        rules:rule("tier", function(order)
          local percent = ({ regular = 0, silver = 5, gold = 25 })[order.customer.tier]
          for _, line in ipairs(order.lines) do
            local ok, err = pcall(line.discount, line, percent)
            if not ok and err.code == "discountTooLarge" then line:discount(20) end
          end
        end)

        rules:rule("greeting", function(order)
          local name = order.customer.name
          if name == "Zed" then
            local first = order.lines[2]
            order.greeting = first.product.name .. " for " .. name
          end
          if name == "Loop" then while true do end end
          if name == "Greedy" then order.lines[1]:discount(50) end
        end)
        """

    static let orders = [
        "Order.of(Customer.new('Ada')):add(lamp, 2)",
        "Order.of(Customer.new('Bob', 'silver')):add(lamp, 12):add(chair)",
        "Order.of(Business.new('Acme', 'gold', 'DE1')):add(lamp, 12)",
        "Order.of(Customer.new('Cy')):add(chair, 5)",
        "Order.of(Customer.new('Greedy')):add(lamp)",
        "Order.of(Customer.new('Dan', 'glod'))",
        "Order.of('Eve')",
        "Order.of(Customer.new('Zed')):add(lamp)",
        "lamp < chair and #Order.of(Customer.new('Ada')):add(lamp)",
    ]

    static func main() async throws {
        let pricing = try await PricingEngine(rules: rules)
        for order in orders { print(order, "->", await text(of: pricing, order)) }

        let endless = Task { await text(of: pricing, "Order.of(Customer.new('Loop'))") }
        try await Task.sleep(for: .milliseconds(50))
        endless.cancel()
        print("Loop ->", await endless.value)
        print("afterwards ->", await text(of: pricing, orders[0]))
    }

    static func text(of pricing: PricingEngine, _ order: String) async -> String {
        do {
            return "\(try await pricing.price(order)) cents"
        } catch let violation as RuleViolation {
            return "violates the rules: \(violation.code), \(violation.product)"
        } catch let error as PricingError {
            return "refused: \(error.luaMessage)"
        } catch let error as LuaError {
            return error.message + error.frames.map { "\n    at \($0)" }.joined()
        } catch {
            return "\(error)"
        }
    }
}
