import Lua
import Testing

@testable import REPL

@Suite("Habits of other prompts") struct ForeignHabitTests {
    private func hint(_ entry: String) throws -> String? {
        let test = try TestHost()
        guard case .failure(let error) = test.evaluator.evaluate(entry) else { return nil }
        return ForeignHabit.found(in: entry, error)?.hint
    }

    @Test(
        "are answered with what is typed here",
        arguments: [
            ("\\d", ":fields lists"), ("\\d items", ":fields lists"), (".tables", ":fields lists"),
            (" \\q ", ":quit leaves"), ("!ls -l", "fs.list"), ("%timeit f(1)", ":bench ENTRY"),
            ("a != b", "unequal is ~="), ("if a != b then print(1) end", "unequal is ~="), ("a !== b", "unequal is ~="),
            ("x += 1", "there is no +=: x = x + …"), ("x -= 1", "x = x - …"), ("s ..= 'a'", "s = s .. …"),
            ("t.n += 1", "x = x + …"), ("i++", "i = i + 1"), ("if a && b then end", "and"), ("a || b", "or"),
            ("[coder encodeObject:name forKey:@\"name\"]", "coder:encodeObject(value, key)"),
            ("coder.encode(name, forKey: \"name\")", "leave out forKey:"), ("let lamp = items[1]", "local"),
            ("show tables", ":fields lists"), ("describe items", "items:describe()"),
            ("select * from 'al.csv'", "csv('PATH')"), ("len(items)", "len(items) is #items"),
            ("len('abc')", "len(x) is #x"), ("str(5)", "str(x) is tostring(x)"),
        ])
    func found(entry: String, text: String) throws {
        let hint = try #require(try hint(entry), "\(entry)")
        #expect(hint.contains(text), "\(hint)")
    }

    @Test(
        "other failures have none, and neither has what is in a text",
        arguments: [
            "nope.x", "error('global len')", "x = '!=' y", "x = 'a += b' + + 1", "1 +", "local x = 1 x()", "f(",
            "a = = b",
            "-- != \n )", "items:nope()",
        ])
    func none(entry: String) throws { #expect(try hint(entry) == nil) }

    @Test("all items are shown as a query of them, alone")
    func items() throws {
        let test = try TestHost()
        #expect(try test.enter("items").hasPrefix("no items"))
        try test.enter("for i = 1, 40 do items:createItem{ name = 'Item ' .. i, room = 'R' .. i } end")
        #expect(try test.lines("items") == test.lines("items:query()") && test.lines("items").count > 10)
        #expect(try test.enter("items").contains("40 rows"))
        #expect(try test.enter("items, 1").hasPrefix("items (40)"))
        #expect(try test.table("items") != nil)
    }
}
