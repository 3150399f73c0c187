import Testing

@testable import Lua

/// What a closure gives is the script's result, however its body is written: a closure without results is not preferred
/// where the value may be discarded.
@Suite("Results of closures") struct ClosureResultTests {
    final class Counter: LuaObject {
        private(set) var count = 0

        @discardableResult func add(_ number: Int) -> Int {
            count += number
            return count
        }

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Counter.self, doc: "A counter.") {
                LuaMethod("add", ["number"]) { (counter: Counter, number: Int) in
                    switch number {
                    case 0: counter.add(1)
                    default: counter.add(number)
                    }
                }
                LuaStatic("next", ["number"]) { (number: Int) in
                    switch number {
                    case 0: Counter().add(1)
                    default: Counter().add(number)
                    }
                }
            }
        }
    }

    private func show(_ text: String) throws -> String {
        let state = try LuaState()
        let module = LuaModule("m", doc: "Functions.", in: state)
        let counter = Counter()
        module.function("add", ["number"], doc: "Adds.") { (number: Int?) in
            switch number {
            case let number?: counter.add(number)
            case nil: counter.add(1)
            }
        }
        module.function("more", ["number"]) { (number: Int) in
            if number > 0 { counter.add(number) } else { counter.add(0) }
        }
        module.function("nothing", ["number"]) { (number: Int) in
            counter.add(number)
            return
        }
        module.function("two") { () in (counter.count, "two") }
        state.globals["m"] = .table(module.table)
        state.addClass(Counter.self)
        state.setGlobal("c", to: counter)
        return try state.load(text.utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    @Test(
        "a body of branches gives the branch's value",
        arguments: [
            ("return m.add(), m.add(2)", "1 3"), ("return m.more(4), m.more(0)", "4 4"),
            ("return c:add(0), c:add(5)", "1 6"), ("return Counter.next(0), Counter.next(5)", "1 5"),
            ("return select('#', m.nothing(3)), m.two()", #"0 3 "two""#),
        ])
    func branches(script: String, results: String) throws { #expect(try show(script) == results) }
}
