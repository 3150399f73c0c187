/// What the scripts of requests may ask for: an actor that takes its time, as a database does.
actor Warehouse {
    struct UnknownProduct: Error, CustomStringConvertible {
        let product: String
        var description: String { "there is no product '\(product)'" }
    }

    private let stock: [String: Int]

    init(_ stock: [String: Int]) { self.stock = stock }

    func stock(of product: String) async throws -> Int {
        try await Task.sleep(for: .milliseconds(1))
        guard let count = stock[product] else { throw UnknownProduct(product: product) }
        return count
    }
}
