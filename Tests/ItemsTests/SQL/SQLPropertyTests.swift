import ItemsTestSupport
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Random statements over random items, beside the same statements over a plain table of SQLite.
@Suite("SQL: beside a plain table") struct SQLPropertyTests {
    private static let fields = ["t", "i", "r", "m", "b", "d"]
    private var random: TestGenerator

    init() { random = TestGenerator(seed: 41) }

    private mutating func value(_ field: String, _ origin: Origin) -> PropertyListValue? {
        if random.number(5) == 0 { return nil }
        let texts = ["a", "b", "B", "ab", "é", "", "10", "9"]
        switch field {
        case "t": return .string(texts[random.number(texts.count)])
        case "i": return .integer(Int64(random.number(9)) - 4)
        // NaN is NULL.
        case "r": return random.number(12) == 0 ? .real(.nan) : .real(Double(random.number(9)) / 2 - 1)
        // No index is asked for the order of dates whose years have five digits.
        case "d":
            let isFar = origin != .dated && random.number(40) == 0
            return .date(PropertyListDate(secondsSinceReferenceDate: isFar ? 3e11 : Double(random.number(30)) * 43_200))
        case "b": return .boolean(random.number(2) == 0)
        default:
            return random.number(2) == 0
                ? .integer(Int64(random.number(5))) : .string(texts[random.number(texts.count)])
        }
    }

    private mutating func pick(_ choices: [String]) -> String { choices[random.number(choices.count)] }

    private mutating func condition() -> String {
        let field = pick(Self.fields)
        switch random.number(8) {
        case 0: return "\(field) is \(pick(["", "not "]))null"
        case 1 where field == "d": return "d between '2001-01-0\(random.number(9))' and '2001-01-1'"
        case 1: return "\(field) in (\(pick(["1, 2, 'a'", "'a', 'b', null", "0.5, -1", "''"])))"
        case 2: return "\(field) like '\(pick(["a%", "A_", "%b", "1%", "é%", ""]))'"
        case 3: return "\(field) glob '\(pick(["a*", "B", "[ab]*", "?"]))'"
        case 4: return "\(field) between \(pick(["-1", "'a'", "0"])) and \(pick(["2", "'b'", "1.5"]))"
        default:
            return
                "\(field) \(pick(["=", "<", "<=", ">", ">=", "<>", "is"])) \(pick(["1", "0", "'a'", "'1'", "0.5", "null", "-1.0", "'B' collate nocase", "i", "t", "9223372036854775807", "-9.5e18", "'2001-01-05'", "'2001-01-05 00:00:00'", "'2001-01-03 12:00:00'"]))"
        }
    }

    private mutating func statement() -> String {
        let wheres = [
            "", " where \(condition())", " where \(condition()) and \(condition())",
            " where \(condition()) or \(condition())",
        ]
        let filter = pick(wheres)
        let (first, second) = (pick(Self.fields), pick(Self.fields))
        let direction = pick(["", " desc"])
        switch random.number(8) {
        case 6: return "select \(first) from items\(filter) order by \(first)\(direction) limit \(random.number(1200))"
        case 7: return "select \(pick(["min", "max"]))(\(first)) from items\(filter)"
        case 0: return "select \(first), count(*), sum(i), min(\(second)) from items\(filter) group by \(first)"
        case 1: return "select \(first), \(second), count(*) from items\(filter) group by \(first), \(second)"
        case 2:
            return
                "select \(first), n from items\(filter) order by \(first)\(direction), n limit \(random.number(9)) offset \(random.number(4))"
        case 3: return "select distinct \(first) from items\(filter) order by \(first)\(direction)"
        case 4:
            return
                "select a.n, b.n from items a \(pick(["left ", ""]))join items b on a.\(first) = b.\(second) and b.n % 5 = 1 where a.n % 7 = 2"
        default: return "select n, \(first) from items\(filter)"
        }
    }

    enum Origin: CaseIterable {
        case created, archived
        /// With an index of each field, of one of several kinds, too; dates of four digits are in its order.
        case indexed, dated
    }

    /// The number of statements; `CUBBY_STATEMENTS` has that of a long trial.
    private static let count = Project.environment("CUBBY_STATEMENTS").flatMap { Int($0) } ?? 300

    @Test("random statements have the same rows", arguments: Origin.allCases)
    mutating func same(_ origin: Origin) throws {
        let folder = try StoreFolder()
        let created = try folder.open(mapped: origin == .archived)
        let values = (0..<1200).map { number in
            var custom: PropertyListFields = ["n": .integer(Int64(number))]
            for field in Self.fields { custom[field] = value(field, origin) }
            return custom
        }
        try created.transaction {
            for custom in values { try created.createItem(ItemFields(name: "x", custom: custom)) }
        }
        try created.saveChanges()
        // Columns of an archive are read when a statement needs them, also one that goes on meanwhile.
        let fixture = try SQLFixture(origin == .archived ? folder.open(mapped: true) : created)
        if [.indexed, .dated].contains(origin) { for field in Self.fields { try fixture.store.createIndex(field) } }
        // The same types as a store's columns: a field of several kinds has none.
        try fixture.run(
            "create temp table plain(t text, i integer, r real, m, b boolean, d text collate \(SQLiteDatabase.dateOrder), n integer)"
        )
        let insert = try fixture.sql.prepare("insert into plain values(?, ?, ?, ?, ?, ?, ?)")
        for custom in values {
            for (place, field) in (Self.fields + ["n"]).enumerated() {
                let isNaN = custom[field]?.floating?.isNaN ?? false
                try insert.bind(isNaN ? nil : custom[field], at: place)
            }
            try insert.run()
            insert.reset()
        }
        for _ in 0..<Self.count {
            let text = statement()
            let plain = text.replacing(" items", with: " plain")
            let isOrdered = text.contains("order by")
            if let error = fixture.error(text) { Issue.record("\(text): \(error)") }
            let (found, wanted) = (try fixture.rows(text), try fixture.rows(plain))
            #expect(isOrdered ? found == wanted : found.sorted() == wanted.sorted(), "\(text)")
        }
    }
}
