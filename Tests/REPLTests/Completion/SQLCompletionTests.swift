import Application
import Scripting
import TestSupport
import Testing

@testable import REPL

@Suite("Completion of SQL") struct SQLCompletionTests {
    @Test(
        "the first candidates are what can stand there, and nothing runs",
        arguments: [
            // Tables.
            ("select * from ite", ["items"]), ("select * from items i join cs", ["csv"]), ("update ite", ["items"]),
            ("insert into ite", ["items"]), ("select * from items, ite", ["items"]),
            ("with late as (select 1) select * from la", ["late"]), ("select * from js", ["jsonl", "json"]),
            // Columns of the items, in quotes if they must be, and by an alias.
            ("select ro", ["room"]), ("select name, valueI", ["valueInDollars"]),
            ("select * from items where unit", ["\"unit price\""]), ("select \"unit", ["\"unit price\""]),
            ("select * from items i where i.ro", ["room"]), ("select items.posi", ["position"]),
            ("select * from items as thing order by thing.itemK", ["itemKey"]),
            ("select * from items thing order by thi", ["thing"]),
            // Words in the case of what is typed.
            ("select * from items whe", ["when", "where"]), ("SELECT * FROM items WHE", ["WHEN", "WHERE"]),
            // Functions of SQLite and of Cubby.
            ("select medi", ["median"]), ("select unacc", ["unaccent"]), ("select coales", ["coalesce"]),
            // Values of a field.
            ("select * from items where room = 'At", ["Attic"]),
            // Nothing to say.
            ("select 12", []), ("select $na", []), ("select 1 -- ite", []), ("select 'ite", []),
        ])
    func completes(text: String, found: [String]) throws {
        let test = try TestHost()
        try test.enter("items:createItem{ name = 'Bear', room = 'Attic', ['unit price'] = 2 }")
        let all = test.complete(text)
        #expect(found.isEmpty ? all.isEmpty : Array(all.prefix(found.count)) == found, "\(all)")
    }

    @Test("a string in csv(…) is a path, as far as scripts may read")
    func files() throws {
        let test = try TestHost()
        try test.enter("fs.write(app.container.documents .. '/a.csv', 'n\\n1\\n')")
        let documents = test.host.container.documents
        #expect(test.complete("select * from csv('\(documents)/a") == ["a.csv"])
        #expect(test.complete("select * from nothing('\(documents)/a").isEmpty)
        #expect(test.complete("select * from csv('/etc/pass").isEmpty)
    }

    @Test("a defined function and an attached database are names, too")
    func names() throws {
        let test = try TestHost()
        try test.enter("path = app.container.tmp .. '/a.sqlite' db = assert(sqlite.open(path))")
        try test.enter("db:execute('create table lamps(watts)') db:close() sql.attach('other', path)")
        try test.enter("sql.define('discount', function(n) return n / 2 end)")
        #expect(test.complete("select disco").first == "discount")
        #expect(test.complete("select * from oth").first == "other")
        #expect(test.complete("select * from other.la") == ["lamps"])
        #expect(test.complete("select * from other.lamps l where l.wa") == ["watts"])
    }
}
