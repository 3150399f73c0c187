import Foundation
import Testing

@testable import Lua

/// What a host must not do traps with a message, before it can become undefined behaviour.
@Suite("Misuse of states and values")
struct MisuseTests {
    /// The text that a process which trapped has left on standard error.
    private func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("a closed state")
    func closed() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try Fixture()
            let table = fixture.state.makeTable()
            fixture.state.close()
            _ = table["x"]
        }
        #expect(message(result).contains("the LuaState is closed: its values cannot be used any more"))
    }

    @Test("a function and a coroutine of a closed state")
    func closedFunction() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try Fixture()
            let function = try fixture.state.load(Array("return 1".utf8), name: "=t")
            fixture.state.close()
            try function.call()
        }
        #expect(message(result).contains("the LuaState is closed"))
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try Fixture()
            let thread = try fixture.state.makeThread(fixture.state.load(Array("return 1".utf8), name: "=t"))
            fixture.state.close()
            thread.close()
        }
        #expect(message(second).contains("the LuaState is closed"))
    }

    @Test("a value in another state than its own")
    func otherState() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (first, second) = (try Fixture(), try Fixture())
            second.state.globals["t"] = .table(first.state.makeTable())
        }
        #expect(message(result).contains("a LuaValue was used with another LuaState than its own"))
    }

    @Test("an object by another state's class")
    func otherClass() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (first, second) = (try Fixture(), try Fixture())
            let function = second.state.makeFunction(LuaFunctionDeclaration("make", [])) { call in
                call.returns(Counter(), first.counters)
            }
            try function.call()
        }
        #expect(message(result).contains("the class Counter was declared to another LuaState"))
    }

    @Test("another thread, while code runs")
    func otherThread() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try Fixture()
            fixture.declare("elsewhere") { _ in
                nonisolated(unsafe) let state = fixture.state
                let thread = Thread { _ = state.makeTable() }
                thread.start()
                while !thread.isFinished { sched_yield() }
            }
            try fixture.run("elsewhere()")
        }
        #expect(message(result).contains("code of this LuaState runs on another thread"))
    }

    @Test("closing a state from its own code")
    func closedWithin() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try Fixture()
            fixture.declare("close") { _ in fixture.state.close() }
            try fixture.run("close()")
        }
        #expect(message(result).contains("a LuaState cannot be closed while its code runs"))
    }

    @Test("what needs no state still works: dropping values, interrupting, closing twice")
    func harmless() throws {
        let fixture = try Fixture()
        let value = LuaValue.table(fixture.state.makeTable())
        fixture.state.close()
        fixture.state.close()
        fixture.state.interrupter.interrupt(.cancel)
        #expect(value.typeName == "table")
    }

    @Test("an error that another state raised is an error here as well, by its message")
    func foreignError() throws {
        let (first, second) = (try Fixture(), try Fixture())
        let function = second.state.makeFunction(LuaFunctionDeclaration("fail", [])) { call in
            try first.run("error({ code = 5 })")
            return call.returnsNothing()
        }
        let error = try #require(#expect(throws: LuaError.self) { try function.call() })
        #expect(error.message == "{ code = 5 }")
        #expect(second.state.value(of: error) != nil)
    }
}
