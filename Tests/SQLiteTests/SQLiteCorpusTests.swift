import Foundation
import TestSupport
import Testing

@testable import SQLite

/// Databases of all kinds, whole and damaged: each is opened, read and closed. `scripts/sanitize address` runs this, too.
@Suite("A corpus of databases")
struct SQLiteCorpusTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
    }

    private func open(isReadOnly: Bool = false) throws(SQLiteError) -> SQLiteDatabase {
        try SQLiteDatabase(path: path, temporaryFolder: folder.path, isReadOnly: isReadOnly)
    }

    /// Reads every table and view as far as it goes, then closes the database while a statement is open.
    private func read(isReadOnly: Bool) {
        guard let database = try? open(isReadOnly: isReadOnly) else { return }
        var open: [SQLiteStatement] = []
        for table in (try? database.tables()) ?? [] {
            let name = SQLiteDatabase.quoted(table)
            for sql in ["select * from \(name) limit 500", "select count(*) from \(name) where \(name) match 'hello'"] {
                guard let rows = try? SQLiteStatement(database, sql) else { continue }
                _ = try? rows.step()
                open.append(rows)
                guard let others = try? SQLiteStatement(database, sql) else { continue }
                while (try? others.step()) == true {
                    for column in others.columns.indices { _ = others.cell(column) }
                }
            }
        }
        if !isReadOnly {
            for kind in ["fts5(x)", "fts4(x)", "rtree(a, b, c)"] {
                _ = try? database.execute("create virtual table if not exists own using \(kind)")
            }
        }
        database.close()
        #expect(open.allSatisfy { (try? $0.step()) == nil })
    }

    static let kinds: [[String]] = [
        [
            "create virtual table t using fts3(a, b)", "insert into t values('hello world', 'b')",
            "create view v as select * from t",
        ],
        [
            "create virtual table t using fts4(a, tokenize=porter)", "insert into t values('hello world')",
            "create virtual table x using fts4aux(t)", "create view items as select * from t",
        ],
        [
            "create virtual table t using fts5(name, prefix='2 3')", "insert into t values('hello')",
            "create virtual table x using fts5vocab(t, 'row')", "create view items as select name from t",
        ],
        [
            "create virtual table t using rtree(i, a, b)", "insert into t values(1, 2, 3)",
            "create view v as select * from t",
        ],
        [
            "create table t(a, b as (a || 'x') stored, c as (instr(a, 'b')) virtual)",
            "create table u(a, check(trim(a) <> ''))", "create index i on t(lower(a)) where a like 'a%'",
            "create index j on t(c)", "create trigger r after insert on t begin insert into u values(new.a); end",
            "insert into t(a) values('abc')",
        ],
        [
            "create table t(a primary key, b) without rowid", "insert into t values(1, 'hello')",
            "create view v as select json_extract(b, '$.a') from t", "create table e(a text collate nocase unique)",
        ],
        ["pragma journal_mode = wal", "create table t(a)", "insert into t values('hello')"],
    ]

    @Test("a database of any kind is opened, read and closed; so are damaged ones", arguments: kinds)
    func corpus(_ statements: [String]) throws {
        let database = try open()
        for statement in statements { try database.execute(statement) }
        database.close()
        for isReadOnly in [true, false, true] { read(isReadOnly: isReadOnly) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var generator = TestGenerator(seed: UInt64(statements.count))
        for round in 0..<60 {
            var damaged = whole
            for _ in 0..<[1, 3, 20][round % 3] {
                damaged[generator.number(damaged.count)] = UInt8(generator.number(256))
            }
            if round % 7 == 0 { damaged = damaged.prefix(generator.number(damaged.count)) }
            for suffix in ["-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try damaged.write(to: URL(fileURLWithPath: path))
            read(isReadOnly: round % 2 == 0)
        }
    }

    @Test("a statement of a virtual table is not finalized twice", arguments: ["fts5(x)", "fts4(x)", "rtree(a, b, c)"])
    func closing(_ kind: String) throws {
        let database = try open()
        try database.execute("create virtual table t using \(kind)")
        try database.execute("insert into t values(\(kind.hasPrefix("r") ? "1, 2, 3" : "'hello'"))")
        let rows = try SQLiteStatement(database, "select * from t")
        #expect(try rows.step())
        database.close()
        #expect(throws: SQLiteError.self) { try rows.step() }
    }

    @Test(
        "statements and virtual tables that no script needs are refused, and the error names them",
        arguments: [
            ("pragma busy_timeout = 100000000", "PRAGMA busy_timeout"),
            ("pragma trusted_schema = 1", "PRAGMA trusted_schema"),
            ("pragma writable_schema = 1", "PRAGMA writable_schema"), ("pragma cache_size", "PRAGMA cache_size"),
            ("pragma case_sensitive_like = 1", "PRAGMA case_sensitive_like"),
            ("pragma of_later_versions", "PRAGMA of_later_versions"),
            ("create virtual table x using dbstat", "a virtual table of the kind dbstat"),
            ("select * from sqlite_stmt", "the table sqlite_stmt"),
            ("select load_extension('x')", "the function load_extension"),
            ("attach 'b.sqlite' as b", "another file"),
        ])
    func refusals(_ sql: String, _ name: String) throws {
        let database = try open()
        let error = #expect(throws: SQLiteError.self) { try database.execute(sql) }
        #expect(error?.message.hasSuffix("\(name) is closed to statements") == true, "\(String(describing: error))")
        #expect(error?.isStatementsFault == true)
    }

    @Test(
        "what statements may set is not refused",
        arguments: ["journal_mode", "user_version", "foreign_keys", "table_list"])
    func pragmas(_ name: String) throws { try open().execute("pragma \(name)") }

    @Test("a folder that is exchanged while its database is open is the database's all the same")
    func exchangedFolder() throws {
        let inside = folder.path + "/inside", outside = folder.path + "/outside"
        for place in [inside, outside] {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: place + "/b.sqlite"))
        }
        for mode in ["delete", "wal"] {
            let database = try SQLiteDatabase(
                path: inside + "/b.sqlite", temporaryFolder: folder.path, isReadOnly: false)
            try FileManager.default.moveItem(atPath: inside, toPath: inside + ".moved")
            try FileManager.default.createSymbolicLink(atPath: inside, withDestinationPath: outside)
            try database.execute("pragma journal_mode = \(mode)")
            try database.execute("create table \(mode)s(a)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["b.sqlite"])
            database.close()
            try FileManager.default.removeItem(atPath: inside)
            try FileManager.default.moveItem(atPath: inside + ".moved", toPath: inside)
        }
        let database = try SQLiteDatabase(path: inside + "/b.sqlite", temporaryFolder: folder.path, isReadOnly: true)
        #expect(try database.tables() == ["deletes", "wals"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside + "/b.sqlite")).isEmpty)
    }

    @Test(
        "no file is followed if it is a link: neither a database nor one beside it",
        arguments: ["", "-journal", "-wal"])
    func links(_ suffix: String) throws {
        try open().execute("create table t(a)")
        let other = folder.path + "/other"
        try Data("other".utf8).write(to: URL(fileURLWithPath: other))
        try? FileManager.default.removeItem(atPath: path + suffix)
        try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: other)
        let result = Result { () throws(SQLiteError) in
            let database = try open()
            try database.execute("pragma journal_mode = \(suffix == "-wal" ? "wal" : "delete")")
            try database.execute("insert into t values(1)")
        }
        #expect(throws: SQLiteError.self) { try result.get() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("other".utf8))
    }
}
