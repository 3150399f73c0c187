import Application
import Lua
import Scripting
import TestSupport
import Testing

/// Events of the life cycle that come while a transaction waits.
@Suite("Events in transactions") struct TransactionEventTests {
    private let embedding: Embedding
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        embedding = try Embedding(scratch.file("c"))
        let host = embedding.host
        host.state.setGlobal(LuaFunctionDeclaration("goHome")) { [unowned host] call in
            host.lifeCycle.handle(.pressHome, cause: .sigtstp)
            return call.returnsNothing()
        }
        host.launch()
    }

    @Test("what handlers change within a transaction is said, since it is rolled back with it")
    func handlers() {
        let result = embedding.run(
            """
            app:on("didEnterBackground", function() items:createItem{ name = "handler" } end)
            pcall(items.transaction, items, function()
              items:createItem{ name = "half" }
              goHome()
              error("no")
            end)
            return #items, app.state
            """)
        #expect(result == "0 background")
        #expect(
            embedding.recorder.errors.contains(
                "handlers changed items while a transaction was open: if it fails, their changes are rolled back"))
        embedding.end()
    }

    @Test("a method of the delegate that is no function is named")
    func delegate() {
        _ = embedding.run("app.delegate = { applicationDidBecomeActive = 5 }")
        #expect(embedding.recorder.errors.contains("app.delegate.applicationDidBecomeActive is a number, no function"))
        embedding.end()
    }
}
