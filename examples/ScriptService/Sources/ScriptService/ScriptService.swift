import Hummingbird
import Lua

/// `POST /run?tenant=north&name=value…` runs the Lua text of its body and answers with its result as JSON. `GET /usage` tells
/// what each tenant has used.
@main
enum ScriptService {
    static func main() async throws {
        let warehouse = Warehouse(["lamp": 12, "chair": 3])
        let tenants = try await Tenants(["north", "east", "south", "west"]) { engine in
            try await engine.register("stock", ["product"]) { (product: String) async throws -> Int in
                try await warehouse.stock(of: product)
            }
        }
        let router = Router()
        router.post("run") { request, context -> ScriptAnswer in
            let source = try await String(buffer: request.body.collect(upTo: 64 << 10))
            var query: [String: String] = [:]
            for (name, value) in request.uri.queryParameters { query[String(name)] = String(value) }
            return await tenants.run(source, of: query["tenant"] ?? "", query: query)
        }
        router.get("usage") { _, _ in tenants.usage }
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        let service = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await service.runService()
        await tenants.shutdown()
    }
}
