import Foundation
import Testing

@testable import Lua

/// Declarations whose closure takes other arguments than they say, or gives other results.
@Suite("Declarations that contradict their closure")
struct ContradictionTests {
    private static func expect(_ text: String, _ result: ExitTest.Result?) {
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains(text), "\(message.suffix(500))")
    }

    @Test("an engine refuses each of its four kinds of functions with an error, and does not declare them")
    func engine() async throws {
        let engine = try await LuaEngine()
        let errors = [
            await #expect(throws: LuaError.self) {
                try await engine.register("f", ["a", "b"]) { (a: Int) in a }
            },
            await #expect(throws: LuaError.self) {
                try await engine.register("f", ["a"]) { (a: Int, b: Int) in }
            },
            await #expect(throws: LuaError.self) {
                try await engine.register("f", ["a"]) { () async -> Int in 1 }
            },
            await #expect(throws: LuaError.self) {
                try await engine.register("shop.f", ["a"]) { (a: Int, b: Int) async in }
            },
        ]
        #expect(errors.allSatisfy { $0?.kind == .argument })
        #expect(
            errors.map { $0?.message } == [
                "f names 2 parameters (a, b), and its closure takes 1",
                "f names 1 parameter (a), and its closure takes 2",
                "f names 1 parameter (a), and its closure takes none",
                "shop.f names 1 parameter (a), and its closure takes 2",
            ])
        #expect(try await engine.run("return f == nil and shop == nil", as: Bool.self))
        // Names are all there, or none.
        try await engine.register("g") { (a: Int, b: Int) in a + b }
        try await engine.register("h", ["a", "b"]) { (a: Int, b: Int) in a * b }
        #expect(try await engine.run("return g(2, 3) + h(2, 3)", as: Int.self) == 11)
        await engine.shutdown()
    }

    @Test("functions of a module, with one result and with several, and its call")
    func module() async throws {
        Self.expect(
            "twice names 2 parameters (n, m), and its closure takes 1",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("math2", doc: "", in: state).function("twice", ["n", "m"]) { (n: Int) in n * 2 }
            })
        Self.expect(
            "both names 1 parameter (n), and its closure takes 2",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("math2", doc: "", in: state).function("both", ["n"]) { (n: Int, m: Int) in (n, m) }
            })
        Self.expect(
            "a call of the module names 1 parameter (n), and its closure takes none",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("math2", doc: "", in: state).callable(["n"], doc: "") { 1 }
            })
        Self.expect(
            "f names 1 parameter (n), and its closure takes none",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = try LuaState().makeFunction("f", ["n"]) { 1 }
            })
    }

    @Test("words of a number, and the signature of a text")
    func kinds() async throws {
        Self.expect(
            "the argument n is declared as a text, and its closure takes integer",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", ["n": .choice(["a"], "")]) { (n: Int) in n }
            })
        Self.expect(
            "the argument n is declared as a function, and its closure takes string or nil",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", ["n": .callback("()", "")]) { (n: String?) in n }
            })
    }

    @Test("declared results of another number, and of another type")
    func results() async throws {
        Self.expect(
            "f declares 2 results, and its closure gives 1",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: [.text, .any]) { "a" }
            })
        Self.expect(
            "f declares 0 results, and its closure gives 2",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: []) { Result<Int, LuaError>.success(1) }
            })
        Self.expect(
            "f declares 1 result, and its closure gives none",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: [.text]) { LuaNothing() }
            })
        Self.expect(
            "the result 1 of f is declared as integer or nil, and its closure gives string or nil",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: [.optional(.integer)]) { String?("a") }
            })
        Self.expect(
            "the result 1 of f is declared as array of number, and its closure gives array of string",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: [.array(.number)]) { ["a"] }
            })
        Self.expect(
            "the result 2 of f is declared as string, and its closure gives integer…",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("f", returns: [.integer, .text]) { LuaVariadic([1, 2]) }
            })
        Self.expect(
            "the result 1 of m is declared as string or boolean, and its closure gives string or integer",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let state = try LuaState()
                LuaModule("m", doc: "", in: state).function("m", returns: [.union([.text, .boolean])]) {
                    LuaEither<String, Int>.first("a")
                }
            })
        Self.expect(
            "the result 1 of name is declared as boolean, and its closure gives string",
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let fixture = try Fixture()
                fixture.counters.method("name", returns: [.boolean]) { _ in "a" }
            })
    }

    @Test("declared results that are more specific than the closure's, or less, are declared")
    func specificResults() throws {
        let state = try LuaState()
        defer { state.close() }
        let module = LuaModule("m", doc: "", in: state)
        module.function("any", returns: [.optional(.array(.text))]) { LuaValue.nil }
        module.function("number", returns: [.integer]) { 1.0 }
        module.function("wide", returns: [.number]) { 1 }
        module.function("text", returns: [.string]) { "a" }
        module.function("word", returns: [.choice(["a", "b"])]) { "a" }
        module.function("table", returns: [.record("point", [])]) { state.makeTable() }
        module.function("list", returns: [.table]) { [1] }
        module.function("next", returns: [.callback("() → integer"), .table, .any]) { LuaVariadic([LuaValue.nil]) }
        module.function("none", returns: [.variadic(.any)]) { LuaNothing() }
        module.function("either", returns: [.union([.integer, .text])]) { LuaEither<String, Int>.second(1) }
        module.function("orError", returns: LuaType.orError(.table)) { Result<[Int], LuaError>.success([1]) }
        let calls = "local m = ... return m.number(), m.word(), m.either()"
        let results = try state.load(Array(calls.utf8), name: "=t").call(arguments: [.table(module.table)])
        #expect(results == [.number(1), .text("a"), .integer(1)])
    }

    /// A class with one wrong member.
    private final class Thing: LuaObject, @unchecked Sendable {
        enum Wrong: Int { case method, results, waiting, function, functionResults, binary, unary, call, none }
        nonisolated(unsafe) static var wrong = Wrong.none

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Thing.self, doc: "") {
                switch wrong {
                case .method: LuaMethod("m", ["a"]) { (_, a: Int, b: Int) in a + b }
                case .results: LuaMethod("m", ["a"]) { (_, a: Int, b: Int) in (a, b) }
                case .waiting: LuaMethod("m", ["a", "b"]) { (_: Thing, a: Int) async in a }
                case .function: LuaStatic("f", ["a"]) { (a: Int, b: Int) in a + b }
                case .functionResults: LuaStatic("f", ["a", "b"]) { (a: Int) in (a, a) }
                case .binary: LuaOperator(.add) { (a: Thing) in 1 }
                case .unary: LuaOperator(.length) { (a: Thing, b: Thing) in 1 }
                case .call: LuaOperator(.call) { 1 }
                case .none: LuaOperator(.call) { (a: Thing, b: Int, c: Int) in b + c }
                }
            }
        }

        static func declare(_ wrong: Int) throws {
            self.wrong = Wrong(rawValue: wrong) ?? .none
            let state = try LuaState()
            defer { state.close() }
            state.addClass(Thing.self)
        }
    }

    @Test(
        "methods, functions and operators of a class",
        arguments: [
            (0, "m names 1 parameter (a), and its closure takes 2"),
            (1, "m names 1 parameter (a), and its closure takes 2"),
            (2, "m names 2 parameters (a, b), and its closure takes 1"),
            (3, "f names 1 parameter (a), and its closure takes 2"),
            (4, "f names 2 parameters (a, b), and its closure takes 1"),
            (5, "the operator add of Thing has 2 operands, and its closure takes 1"),
            (6, "the operator length of Thing has 1 operand, and its closure takes 2"),
            (7, "the operator call of Thing has 1 operand, and its closure takes 0"),
        ])
    func members(wrong: Int, message: String) async throws {
        Self.expect(
            message,
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [wrong] in
                try Thing.declare(wrong)
            })
    }

    @Test("a class without a wrong member is declared")
    func none() throws { try Thing.declare(8) }
}
