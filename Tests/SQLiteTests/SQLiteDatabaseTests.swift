import Foundation
import TestSupport
import Testing

@testable import SQLite

/// Statements, values, transactions, and what a database's file system refuses.
@Suite("SQLite databases")
struct SQLiteDatabaseTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
    }

    private func open(isReadOnly: Bool = false) throws -> SQLiteDatabase {
        let real = try #require(realpath(path, nil))
        defer { free(real) }
        return try SQLiteDatabase(path: String(cString: real), temporaryFolder: folder.path, isReadOnly: isReadOnly)
    }

    private func code(_ body: () throws -> Void) -> SQLiteError.Code? {
        do { try body() } catch { return (error as? SQLiteError)?.code }
        return nil
    }

    @Test("values come back as they were bound")
    func values() throws {
        let database = try open()
        try database.execute("create table t(a, b, c, d, e, f)")
        let given: [SQLiteValue] = [
            .null, .integer(.min), .real(-0.5), .text([]), .text(Array("a\0ü".utf8)), .blob([0, 255]),
        ]
        #expect(try database.execute("insert into t values(?, ?, ?, ?, ?, ?)", given) == 1)
        let statement = try SQLiteStatement(database, "select * from t")
        #expect(statement.columns == ["a", "b", "c", "d", "e", "f"])
        #expect(try statement.step())
        let read: [SQLiteValue] = (0..<6).map { column in
            switch statement.cell(column) {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let bytes): .text(Array(bytes))
            case .blob(let bytes): .blob(Array(bytes))
            }
        }
        #expect(read == given)
        #expect(try !statement.step())
        #expect(try database.tables() == ["t"])
    }

    @Test("a transaction happens or not, and so does one within it")
    func transactions() throws {
        struct Refusal: Error {}
        let database = try open()
        try database.execute("create table t(a)")
        try database.transaction {
            try database.execute("insert into t values(1)")
            try? database.transaction {
                try database.execute("insert into t values(2)")
                throw Refusal()
            }
        }
        #expect(throws: Refusal.self) {
            try database.transaction {
                try database.execute("insert into t values(3)")
                throw Refusal()
            }
        }
        #expect(!database.isInTransaction)
        #expect(try database.execute("delete from t") == 1)
    }

    @Test(
        "a statement reaches no other file, and no setting of the process",
        arguments: [
            "attach '/etc/hostname' as x", "attach ? as x", "vacuum into '/tmp/x'", "select load_extension('x')",
            "pragma temp_store_directory = '/tmp'", "pragma mmap_size = 100000000", "pragma hard_heap_limit = 1",
            "PRAGMA Cache_Size = 10000000",
        ])
    func refusals(_ sql: String) throws {
        let database = try open()
        let refused = code {
            let statement = try SQLiteStatement(database, sql)
            try statement.bind(statement.parameterNames.map { _ in .text(Array("b".utf8)) })
            try statement.run()
        }
        // A function that is refused makes the statement none.
        let expected = sql.contains("load_extension") ? SQLiteError.Code.error : .denied
        #expect(refused == expected, "\(sql): \(String(describing: refused))")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
    }

    @Test("a vacuum and a sort beyond the memory use files of the folder, which are gone then")
    func temporaryFiles() throws {
        let database = try open()
        try database.execute("create table t(a)")
        try database.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into t select randomblob(500) from n"
        )
        let sorted = try SQLiteStatement(database, "select a from t order by a desc")
        #expect(try sorted.step())
        try sorted.run()
        try database.execute("delete from t where rowid % 2 = 0")
        try database.execute("vacuum")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
    }

    /// A journal beside a database may ask for the removal of any file: it names it as its super-journal.
    @Test("a journal that names another file is refused, and the file stays")
    func superJournal() throws {
        try open().execute("create table t(a)")
        let other = folder.path + "/other"
        try Data().write(to: URL(fileURLWithPath: other))
        // As SQLite writes it: the header of a journal of no pages, then the name, its length, its sum and the magic.
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        var journal = magic + word(0) + word(0) + word(2) + word(512) + word(4096)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        let name = Array(other.utf8)
        journal += word(0x4000_0001) + name + word(UInt32(name.count))
        journal += word(name.reduce(0) { $0 &+ UInt32($1) }) + magic
        try Data(journal).write(to: URL(fileURLWithPath: path + "-journal"))
        let result = code { _ = try open().tables() }
        #expect(result == .inputOutput)
        #expect(FileManager.default.fileExists(atPath: other))
    }

    @Test(
        "what is not a statement, or no parameter of it, is the statement's fault",
        arguments: ["selec 1", "", "select 1; select 2", "select * from nowhere", "select ?"])
    func wrongStatements(_ sql: String) throws {
        let database = try open()
        let error = #expect(throws: SQLiteError.self) { try database.execute(sql) }
        #expect(error?.isStatementsFault == true)
    }

    @Test("a closed database and its statements say so")
    func closed() throws {
        let database = try open()
        let statement = try SQLiteStatement(database, "select 1")
        database.close()
        #expect(code { _ = try statement.step() } == .misuse)
        #expect(code { try statement.bind([]) } == .misuse)
        #expect(code { try database.execute("select 1") } == .misuse)
        #expect(statement.parameterNames.isEmpty)
        database.close()
    }

    @Test(
        "what is no database is told", arguments: [Array("text that is long enough to be no header of a database".utf8)]
    )
    func foreign(_ bytes: [UInt8]) throws {
        try Data(bytes + [UInt8](repeating: 1, count: 4096)).write(to: URL(fileURLWithPath: path))
        #expect(code { _ = try open(isReadOnly: true).tables() } == .notADatabase)
    }

    @Test("any page of a database may be overwritten: an error or an answer, and no end of the process")
    func damaged() throws {
        let database = try open()
        try database.execute("create table t(a, b)")
        for index in 0..<500 {
            try database.execute("insert into t values(?, ?)", [.integer(Int64(index)), .text([97])])
        }
        database.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var generator = TestGenerator(seed: 3)
        for _ in 0..<200 {
            var damaged = whole
            for _ in 0..<20 { damaged[generator.number(damaged.count)] = UInt8(generator.number(256)) }
            try damaged.write(to: URL(fileURLWithPath: path))
            _ = code {
                let opened = try open(isReadOnly: true)
                for table in try opened.tables() {
                    try opened.execute("select * from \(SQLiteDatabase.quoted(table))")
                }
            }
        }
    }
}
