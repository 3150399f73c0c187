import Hummingbird
import Lua

/// `POST /run?name=value…` runs the Lua text of its body and answers with its result as JSON.
@main
enum ScriptService {
    static func main() async throws {
        let warehouse = Warehouse(["lamp": 12, "chair": 3])
        let engines = try await EnginePool(count: 4) { engine in
            try await engine.register("stock", ["product"]) { (product: String) async throws -> Int in
                try await warehouse.stock(of: product)
            }
        }
        let router = Router()
        router.post("run") { request, context -> ScriptAnswer in
            let source = try await String(buffer: request.body.collect(upTo: 64 << 10))
            var query: [String: String] = [:]
            for (name, value) in request.uri.queryParameters { query[String(name)] = String(value) }
            return await engines.run(source, query: query)
        }
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        let service = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await service.runService()
        await engines.shutdown()
    }
}
