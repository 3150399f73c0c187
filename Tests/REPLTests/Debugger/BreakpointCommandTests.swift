import Lua
import Testing

@testable import REPL

@Suite("What follows :break")
struct BreakpointCommandTests {
    @Test(
        "a place, a condition, a removal, errors",
        arguments: [
            ("", .list), ("main.lua:12", .set(path: "main.lua", line: 12, condition: nil)),
            ("a b.lua:3", nil), ("C:\\x.lua:3", .set(path: "C:\\x.lua", line: 3, condition: nil)),
            ("main.lua:12 if n > 3 and m", .set(path: "main.lua", line: 12, condition: "n > 3 and m")),
            ("7", .set(path: "[1]", line: 7, condition: nil)), ("7 if x", .set(path: "[1]", line: 7, condition: "x")),
            ("main.lua:0", nil), ("main.lua:x", nil), ("main.lua:99999999999999999999", nil), (":4", nil),
            ("main.lua", nil), ("main.lua:4 unless x", nil), ("main.lua:4 if", nil), ("off 2", .remove(2)),
            ("off all", .remove(nil)), ("off", nil), ("off x", nil), ("error", .errors(.uncaught)),
            ("error all", .errors(.all)), ("error off", .errors(.none)), ("error some", nil),
        ] as [(String, BreakpointCommand?)])
    func parse(_ text: String, _ expected: BreakpointCommand?) {
        #expect(BreakpointCommand(text, current: "[1]") == expected)
    }

    @Test("a line alone needs a current chunk")
    func line() { #expect(BreakpointCommand("7") == nil) }
}
