import Items
import Lua
import PropertyList
import Scripting
import TestSupport
import Testing

@testable import REPL

/// Each number and each time that the prompt shows reads back as the same one, or is marked as shortened.
@Suite("The printer accounts for its values") struct PrinterAccountingTests {
    /// Lua literals of numbers, at the edges of their types as often as not.
    private static func literals(_ seed: UInt64, _ count: Int) -> [(text: String, value: LuaValue)] {
        var values = ForeignValues(seed: seed)
        return (0..<count).map { _ in
            if values.random.number(2) == 0, let integer = Int64(exactly: values.integer()), integer != .min {
                return ("\(integer)", .integer(integer))
            }
            let real = values.real()
            return ("\(real)", .number(real))
        }
    }

    private static func value(_ text: some StringProtocol) -> LuaValue? {
        if let integer = Int64(text) { return .integer(integer) }
        return Double(text).map { .number($0) }
    }

    private static func isEqual(_ shown: LuaValue?, _ value: LuaValue) -> Bool {
        switch (shown, value) {
        case (.integer(let shown)?, .integer(let value)): shown == value
        case (.number(let shown)?, .number(let value)): shown == value && shown.sign == value.sign
        default: false
        }
    }

    @Test("numbers alone, in tables, in an item's fields and in a listing of items")
    func numbers() throws {
        let test = try TestHost()
        let literals = Self.literals(41, Accounting.values)
        var (alone, rows) = (ValuePrinter(test.host), ValuePrinter(test.host))
        alone.isUnlimited = true
        (rows.rows, rows.columns) = (1_000_000, 200)
        rows.isUnlimited = true
        // A table that is drawn ends at 100,000 rows, and says so.
        for start in stride(from: 0, to: literals.count, by: 50_000) {
            let part = literals[start...].prefix(50_000)
            let table = test.host.state.makeTable(array: part.count)
            for (index, literal) in part.enumerated() {
                let record = test.host.state.makeTable(fields: 1)
                record["n"] = literal.value
                table[index + 1] = .table(record)
            }
            let lines = rows.text([.table(table)], seconds: 0).split(separator: "\n").dropFirst().prefix(part.count)
            try #require(lines.count == part.count)
            for (literal, line) in zip(part, lines) {
                let text = alone.describe(literal.value)
                #expect(Self.isEqual(Self.value(text), literal.value), "\(literal.text)")
                let cell = line.split(separator: " ").last ?? ""
                #expect(Self.isEqual(Self.value(cell), literal.value), "\(literal.text): \(cell)")
            }
        }
        for literal in literals.prefix(100) {
            try test.enter("it = items:createItem{ name = 'N', n = \(literal.text) } items:createItem{ n = 1 }")
            let field = try test.lines("it").first { $0.hasPrefix(" n ") }?.split(separator: " ").last ?? ""
            #expect(Self.isEqual(Self.value(field), literal.value), "\(literal.text): \(field)")
            let listed = try test.lines("items:query()", chosen: ["name", "n"]).dropFirst().first ?? ""
            #expect(Self.isEqual(Self.value(listed.split(separator: " ").last ?? ""), literal.value), "\(listed)")
            try test.enter("items:query():remove()")
        }
    }

    @Test("times in an item's fields are whole, and in a listing whole or marked")
    func times() throws {
        let test = try TestHost()
        var values = ForeignValues(seed: 42)
        for _ in 0..<100 {
            let date = PropertyListDate(secondsSinceReferenceDate: values.seconds())
            let item = try test.host.items.createItem()
            try item.setValue(.date(date), forField: "at")
            let value = try #require(try test.evaluator.evaluate("items[1]").get().first)
            let printer = ValuePrinter(test.host)
            let field = printer.text([value], seconds: 0).split(separator: "\n").first { $0.hasPrefix(" at ") } ?? ""
            #expect(ISO8601.parse(String(field.dropFirst(4).drop { $0 == " " })) == date, "\(field)")
            let short = test.host.shortText(date)
            let isWhole = ISO8601.parse(short) == date
            #expect(isWhole || short.hasSuffix("…"), "\(short)")
            try test.enter("items:query():remove()")
        }
    }

    @Test("a table's reals are whole, with their exponents, and integers beyond 64 bits are")
    func cases() throws {
        let test = try TestHost()
        let lines = try test.lines("{ {planck=6.62607015e-34, n=1}, {planck=1.054571817646e-34, n=2e18} }")
        #expect(
            lines == [
                " #      n              planck", " 1      1      6.62607015e-34", " 2  2e+18  1.054571817646e-34",
            ])
        #expect(
            try test.enter("{ 1 / 3, 2^53, -0.0, 1e15 }") == "{ 0.3333333333333333, 9007199254740992.0, -0.0, 1e+15 }\n"
        )
        let wide = "{ { w = json.decode('18446744073709551616') }, { w = 1 } }"
        #expect(
            try test.lines(wide) == [
                " #                     w", " 1  18446744073709551616", " 2                     1",
            ])
    }
}
