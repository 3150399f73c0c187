import CPlatform
import CSQLite
import Foundation
import TestSupport
import Testing

@testable import SQLite

/// The functions of SQL: each ends when it has to, within its memory, and answers as SQLite's own.
@Suite("Functions of SQL", .serialized)
struct SQLiteFunctionTests {
    /// A line of Tests/Hostile/sql-functions.tsv.
    private struct Row {
        var name: String
        var kind: String
        var text: String

        /// The statement: rows without an end that call the function.
        var sql: String {
            // In this order: without an end, the numbers cannot be collected first.
            let rows = "with recursive n(i) as (select 1 union all select i + 1 from n"
            let values = ["t", "b", "d", "j", "o", "p"].map { " cross join \($0)" }.joined()
            return switch kind {
            case "each": "\(rows)) select count(\(text)) from n\(values)"
            case "all": "\(rows)) select \(text) from n\(values)"
            case "window":
                "\(rows) limit 200) select \(text) over (order by i rows 3 preceding) from n cross join t cross join d"
            default: text
            }
        }
    }

    private static func rows() throws -> [Row] {
        let table = try String(contentsOfFile: "\(Project.root)/Tests/Hostile/sql-functions.tsv", encoding: .utf8)
        return table.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Row(name: parts[0], kind: parts[1], text: parts[2])
        }
    }

    /// What a thread's work may do: it is stopped at a moment, and no allocation has more room than so many bytes.
    private final class Limits {
        var end: ContinuousClock.Instant = .now + .seconds(600)
        var room = Int64.max
        /// How many more times the work may ask.
        var questions = Int.max

        func watch<Result>(_ body: () throws -> Result) rethrows -> Result {
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: { context in
                        guard let context else { return 0 }
                        let limits = Unmanaged<Limits>.fromOpaque(context).takeUnretainedValue()
                        limits.questions -= 1
                        return limits.questions <= 0 || limits.end <= .now ? 1 : 0
                    },
                    capacity: { context in
                        context.map { Unmanaged<Limits>.fromOpaque($0).takeUnretainedValue().room } ?? .max
                    }, context: Unmanaged.passUnretained(self).toOpaque()))
            defer { _ = cubby_watch_work(former) }
            return try body()
        }
    }

    /// The error of a statement that is run to its end; nil for none.
    private func end(_ database: SQLiteDatabase, _ sql: String) -> SQLiteError? {
        do throws(SQLiteError) {
            let statement = try SQLiteStatement(database, sql)
            while try statement.step() {}
            return nil
        } catch {
            return error
        }
    }

    @Test("every function that SQLite has is in the table, and ends where the thread's work is stopped")
    func everyFunctionStops() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/values.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        let rows = try Self.rows()
        for row in rows where row.kind == "setup" { try database.execute(row.text) }
        var functions: Set<String> = []
        let list = try SQLiteStatement(database, "select distinct name from pragma_function_list")
        while try list.step() {
            if case .text(let name) = list.cell(0) { functions.insert(String(decoding: name, as: UTF8.self)) }
        }
        let missing = functions.subtracting(rows.map(\.name)).sorted()
        #expect(missing.isEmpty, "give these a line in Tests/Hostile/sql-functions.tsv, and a length in CSQLite")
        let limits = Limits()
        for row in rows where functions.contains(row.name) && row.kind != "setup" {
            let begin = ContinuousClock.now
            limits.end = begin + .milliseconds(40)
            limits.room = 64 << 20
            let error = limits.watch { end(database, row.sql) }
            if row.kind == "closed" {
                #expect(error?.message.contains("is closed to statements") == true, "\(row.name)")
            } else if let error {
                // A value that is too large is refused before the time is up.
                let expected: [SQLiteError.Code] = [.interrupted, .tooBig, .noMemory, .error]
                #expect(expected.contains(error.code), "\(row.name): \(row.text): \(error.code) \(error)")
            }
            // Without a check it would go on for minutes.
            #expect(ContinuousClock.now - begin < .seconds(20), "\(row.name): \(row.text)")
        }
    }

    @Test(
        "an allocation beyond the work's memory is refused before it is made",
        arguments: [
            "select hex(zeroblob(30000000))", "select randomblob(40000000)", "select zeroblob(90000000) || 'a'",
            "select group_concat(hex(zeroblob(1000000))) from pragma_function_list",
            "select json_group_array(hex(zeroblob(1000000))) from pragma_function_list",
        ])
    func memory(_ sql: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        let limits = Limits()
        limits.room = 16 << 20
        let error = limits.watch { end(database, sql) }
        #expect([.tooBig, .noMemory].contains(error?.code), "\(String(describing: error))")
        limits.room = .max
        #expect(limits.watch { end(database, "select length(hex(zeroblob(3000000)))") } == nil)
    }

    @Test(
        "a step that reads many pages asks at each whether it is stopped, and what it changed is taken back",
        arguments: ["select count(a || '') from t", "pragma integrity_check", "delete from t", "vacuum"])
    func longSteps(_ sql: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        try database.execute("create table t(a)")
        try database.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30) insert into t select zeroblob(1000000) from n"
        )
        database.close()
        let opened = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        let limits = Limits()
        limits.questions = 1000
        let error = limits.watch { end(opened, sql) }
        #expect(error?.code == .interrupted, "\(String(describing: error))")
        let rows = try SQLiteStatement(opened, "select count(*), sum(length(a)) from t")
        #expect(try rows.step())
        guard case .integer(30) = rows.cell(0), case .integer(30_000_000) = rows.cell(1) else {
            Issue.record("rows are missing")
            return
        }
    }

    @Test("a transaction that is stopped is taken back, and the database goes on")
    func rollback() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        for mode in ["delete", "wal"] {
            try database.execute("pragma journal_mode = \(mode)")
            try database.execute("drop table if exists t")
            try database.execute("create table t(a)")
            let limits = Limits()
            _ = limits.watch {
                #expect(throws: SQLiteError.self) {
                    try database.transaction {
                        try database.execute("insert into t values(1)")
                        limits.end = .now
                        try database.execute(
                            "insert into t with recursive n(i) as (select 2 union all select i + 1 from n) select i from n"
                        )
                    }
                }
            }
            #expect(!database.isInTransaction)
            try database.execute("insert into t values(3)")
            #expect(try database.execute("delete from t") == 1, "\(mode)")
        }
    }
}

/// The functions in forms of their own, against SQLite's.
@Suite("Functions of SQL, as SQLite's own")
struct SQLiteOwnFunctionTests {
    private var generator = TestGenerator(seed: 11)

    private mutating func value() -> String {
        let pieces = ["a", "b", "A", "%", "_", "*", "?", "[", "]", "^", "-", "é", "É", "\\", "😀", "z", " "]
        switch generator.number(10) {
        case 0: return "null"
        case 1: return "\(generator.number(99) - 50)"
        case 2, 3:
            let bytes = [0x61, 0xC3, 0xA9, 0x80, 0xFF, 0xF0, 0x9F, 0x25, 0x2A, 0xED, 0xA0]
            let text = (0..<generator.number(7)).map { _ in
                String(bytes[generator.number(bytes.count)] | 0x100, radix: 16).dropFirst()
            }
            let blob = "x'\(text.joined())'"
            return generator.number(2) == 0 ? blob : "cast(\(blob) as text)"
        default:
            return "'" + (0..<generator.number(9)).map { _ in pieces[generator.number(pieces.count)] }.joined() + "'"
        }
    }

    private mutating func expression() -> String {
        let name = ["trim", "ltrim", "rtrim"][generator.number(3)]
        let (a, b, c) = (value(), value(), value())
        switch generator.number(8) {
        case 0: return "instr(\(a), \(b))"
        case 1: return "replace(\(a), \(b), \(c))"
        case 2: return "\(name)(\(a), \(b))"
        case 3: return "\(name)(\(a))"
        case 4: return "\(a) like \(b)"
        case 5: return "\(a) like \(b) escape '\(["\\", "%", "_", "a", "é", ""][generator.number(6)])'"
        case 6: return "json_patch('{\"a\":' || quote(\(generator.number(9))) || '}', '{\"b\":{\"c\":null}}')"
        default: return "\(a) glob \(b)"
        }
    }

    @Test("ten thousand expressions have SQLite's own results")
    mutating func sameResults() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: false)
        let library = database.library.pointee
        var plain: OpaquePointer?
        try #require(library.sqlite3_open_v2(":memory:", &plain, 6, nil) == 0)
        let handle = try #require(plain)
        defer { _ = library.sqlite3_close_v2(handle) }
        for _ in 0..<10_000 {
            let expression = expression()
            let sql = "select quote(\(expression)) || hex(\(expression))"
            var statement: OpaquePointer?
            var expected: String?
            if library.sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == 0, let statement,
                library.sqlite3_step(statement) == 100
            {
                expected = library.sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
            }
            _ = library.sqlite3_finalize(statement)
            var found: String?
            if let own = try? SQLiteStatement(database, sql), (try? own.step()) == true {
                if case .text(let text) = own.cell(0) {
                    found = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
                } else {
                    found = ""
                }
            }
            #expect(found == expected, "\(expression)")
        }
    }
}
