import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Databases of other programs, as scripts and imports read them.
@Suite("Databases of others")
struct DatabaseFileTests {
    let program: Program

    init() throws { program = try Program() }

    /// Copies a database while it is open: its last rows are in its log.
    private func writeLoggedDatabase(_ folder: String) throws -> String {
        let script = """
            local path, copy = ...
            local db = assert(sqlite.open(path))
            for _ in db:rows("pragma journal_mode = wal") do end
            db:execute("create table t(name text, n int)")
            db:execute("insert into t values('A', 1)")
            for _ in db:rows("pragma wal_checkpoint(truncate)") do end
            db:execute("insert into t values('B', 2)")
            for _, suffix in ipairs{ "", "-wal" } do assert(fs.copy(path .. suffix, copy .. suffix)) end
            """
        let (source, target) = (program.scratch.file("source.sqlite"), folder + "/a.sqlite")
        let file = try program.scratch.write(script, to: "make.lua")
        let made = try program("--allow-write", program.scratch.file(""), "run", file, source, target)
        #expect(made.status == .exited(0), "\(made.stderr)")
        return target
    }

    @Test("a database with a log is read where nothing may be written, and nothing is left there")
    func writeAheadLog() throws {
        let folder = program.scratch.file("shelf")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = try writeLoggedDatabase(folder)
        let imported = try program("import", path)
        #expect(imported.stdout == "2 created, 0 updated, 0 unchanged, 0 rejected\n", "\(imported.stderr)")
        let count = """
            local db = assert(sqlite.open('\(path)', { readOnly = true }))
            print(db:rows('select sum(n) as n from t')().n, select(2, db:execute('delete from t')).code)
            """
        #expect(try program("--allow-read", folder, "-e", count).stdout == "3\treadOnly\n")
        let refused = try program("--allow-read", path, "-e", count)
        #expect(refused.status == .exited(1))
        #expect(refused.stderr.contains("a.sqlite-wal") && refused.stderr.contains("--allow-read"))
        // Without its log it has what was in its own file, and is in the mode of one still.
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(try program("--allow-read", path, "-e", count).stdout == "1\treadOnly\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.sqlite"])
        let left = try FileManager.default.contentsOfDirectory(atPath: program.container + "/tmp")
        #expect(left.isEmpty, "\(left)")
    }
}
