import Cubby
import Foundation

/// A host that runs hostile scripts, with the two globals that they use.
final class HostileSubject {
    struct NotStopped: Error {
        let script: String
        let outcome: String
    }

    private final class Counter {
        var count: Int64 = 0
    }

    private let host: ScriptHost
    private let folder: String
    private let limit: Double

    init(limit: Double) throws {
        self.limit = limit
        folder = NSTemporaryDirectory() + "cubby-stop-\(ProcessInfo.processInfo.processIdentifier)"
        var options = ScriptHostOptions(container: ApplicationContainer(path: folder))
        options.handlesSignals = false
        options.timeLimit = .seconds(limit)
        host = try ScriptHost(options)
        let counters = LuaClass<Counter>("Counter", doc: "Counts.", in: host.state)
        counters.integer("count", doc: "The count.", get: { $0.count }, set: { $0.count = $1 })
        counters.method("refuse", [LuaParameter("reason", .text)], doc: "Throws.") { _, call in
            throw LuaError(.runtime, try call.text(0))
        }
        host.state.setGlobal(LuaFunctionDeclaration("Counter", [LuaParameter("n", .optional(.integer))])) { call in
            call.returns(Counter(), counters)
        }
        host.state.setGlobal(
            LuaFunctionDeclaration("call", [LuaParameter("f", .function), LuaParameter("…", .variadic(.any))])
        ) { call in
            try call.returns(values: call.function(0).call(arguments: Array(call.allValues.dropFirst())))
        }
        host.launch()
    }

    func end() {
        host.terminate(0, cause: .eof, explicitly: false)
        try? FileManager.default.removeItem(atPath: folder)
    }

    func lateAtPrompt(_ script: String) throws -> Double {
        var outcome = ""
        let late = measure {
            switch host.run(script.utf8, name: "=hostile") {
            case .success: outcome = "it ended"
            case .failure(let error): outcome = error.message
            }
        }
        guard outcome.contains("time is up: the limit is") else { throw NotStopped(script: script, outcome: outcome) }
        try expectUsable(after: script)
        return late
    }

    func lateInHook(_ script: String) throws -> Double {
        let hook = "app:on('willResignActive', { id = 'hostile', budget = \(limit) }, function() \(script) end)"
        _ = try run(hook, after: script)
        let late = measure { host.handle(.interrupt, cause: .script) }
        host.handle(.endInterruption, cause: .script)
        let error = try run(
            "return app:errors()[1].message, app:hooks{ id = 'hostile' }[1].stats.failures", after: script)
        guard error.contains("time is up: the limit is") else { throw NotStopped(script: script, outcome: error) }
        try expectUsable(after: script)
        return late
    }

    private func expectUsable(after script: String) throws {
        let text = try run("collectgarbage() return ('abc'):match('b'), items.hasChanges, app.state", after: script)
        guard text == "b false active" else { throw NotStopped(script: script, outcome: text) }
    }

    private func measure(_ body: () -> Void) -> Double {
        let elapsed = ContinuousClock().measure(body)
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18 - limit
    }

    private func run(_ text: String, after script: String) throws -> String {
        switch host.run(text.utf8, name: "=check") {
        case .success(let values): return values.map { host.state.describe($0).description }.joined(separator: " ")
        case .failure(let error): throw NotStopped(script: script, outcome: error.message)
        }
    }
}
