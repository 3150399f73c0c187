import Foundation
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// The aggregates beside SQLite's own as functions of windows, against each frame's rows aggregated by themselves.
@Suite("SQL: windows") struct SQLWindowTests {
    private static let count = 400
    private static let frames = [
        "rows between 3 preceding and current row", "rows between current row and 5 following",
        "rows between 7 preceding and 2 preceding", "rows between unbounded preceding and current row",
        "rows between current row and unbounded following", "rows between 4 following and 9 following",
        "range between 2 preceding and 2 following", "groups between 1 preceding and 1 following",
        "rows between 5 preceding and 5 following exclude current row",
        "range between unbounded preceding and unbounded following",
    ]
    private static let functions = ["median(x)", "percentile(x, 30)", "stddev(y)", "variance(y)"]

    private let fixture: SQLFixture

    init() throws {
        fixture = try SQLFixture()
        var random = TestGenerator(seed: 39)
        try fixture.run("create temp table t(n integer, part text, k integer, x, y)")
        // Reals have too few digits for the variance of the largest.
        let insert = try fixture.sql.prepare("insert into t values(?1, ?2, ?3, ?4, iif(?4 < 1e9, ?4, null))")
        for number in 0..<Self.count {
            let value: PropertyListValue =
                switch random.number(8) {
                case 0: .null
                case 1: .real(Double(random.number(40)) / 8)
                // Beyond what a real has exactly.
                case 2: .integer((1 << 53) + Int64(random.number(9)))
                default: .integer(Int64(random.number(20)))
                }
            let row: [PropertyListValue] = [
                .integer(Int64(number)), .string("p\(random.number(3))"), .integer(Int64(random.number(60))), value,
            ]
            for (place, value) in row.enumerated() { try insert.bind(value, at: place) }
            try insert.run()
            insert.reset()
        }
    }

    @Test("each frame has the value of its rows", arguments: frames, functions)
    func frame(_ frame: String, _ function: String) throws {
        // The rows of each frame as JSON, by an aggregate of SQLite's own.
        let order = frame.hasPrefix("rows") ? "n" : "k"
        let column = function.contains("(y") ? "y" : "x"
        let statement = try fixture.sql.prepare(
            """
            select \(function) over w, json_group_array(\(column)) over w from t
            window w as (partition by part order by \(order) \(frame)) order by n
            """)
        let alone = try fixture.sql.prepare(
            "select \(function.replacing("(\(column)", with: "(value")) from json_each(?)")
        var rows = 0
        while let row = try statement.next() {
            alone.reset()
            try alone.bind(row[1], at: 0)
            let wanted = try #require(try alone.next())[0]
            switch (row[0], wanted) {
            case (.real(let found), .real(let wanted)) where function.hasPrefix("stddev") || function.hasPrefix("var"):
                // Sums of the same numbers in another order.
                #expect(abs(found - wanted) <= 1e-9 * max(abs(found), abs(wanted)), "row \(rows)")
            default: #expect(row[0] == wanted, "row \(rows)")
            }
            rows += 1
        }
        #expect(rows == Self.count)
    }

    @Test("a text that is no number is refused, NaN too: it has no place in an order", arguments: functions)
    func texts(_ function: String) {
        for text in ["nan", "-NaN", "x", ""] {
            let error = fixture.error(
                "select \(function) over (order by n rows 1 preceding) from (select 1 n, 2 x, 2 y union all select 2, '\(text)', '\(text)')"
            )
            #expect(error?.message.contains(" takes numbers, got ") == true, "\(text)")
        }
    }

    @Test("a variance keeps its digits when large numbers have gone")
    func digits() throws {
        let rows = try fixture.rows(
            """
            with recursive t(i) as (select 0 union all select i + 1 from t where i < 200)
            select variance(case when i < 100 then 1e15 + i * 1e10 else i * 0.001 end) over (order by i rows 3 preceding)
            from t order by i
            """)
        // Of 4 numbers with a distance of 0.001: 1.6666… e-6.
        for row in rows.suffix(90) { #expect(abs((Double(row) ?? 0) - 5e-6 / 3) < 1e-15) }
    }

    @Test("a moving sample has the percentiles of its numbers")
    func sample() throws {
        var random = TestGenerator(seed: 5)
        let moving = try MovingSample(NumberSample())
        var numbers: [PropertyListValue] = []
        func add(_ number: PropertyListValue, to sample: inout NumberSample) {
            if case .integer(let number) = number { sample.add(number) }
            if case .real(let number) = number { sample.add(number) }
        }
        for step in 0..<3000 {
            if !numbers.isEmpty, random.number(3) == 0 {
                switch numbers.remove(at: random.number(numbers.count)) {
                case .integer(let number): moving.remove(number)
                case .real(let number): moving.remove(number)
                default: Issue.record("a number of another kind")
                }
            } else if step % 700 < 500 {
                moving.remove(Int64(-1))
                let number = Int64(random.number(50)) + (random.number(9) == 0 ? 1 << 60 : 0)
                moving.add(number)
                numbers.append(.integer(number))
            } else {
                let number = Double(random.number(100)) / 2
                moving.add(number)
                numbers.append(.real(number))
            }
            var sample = NumberSample()
            for number in numbers { add(number, to: &sample) }
            let percent = Double(random.number(101))
            #expect(moving.count == numbers.count)
            #expect(moving.percentile(percent) == (try sample.percentile(percent)), "step \(step)")
        }
    }
}
