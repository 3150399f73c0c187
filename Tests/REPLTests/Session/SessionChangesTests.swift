import Items
import Scripting
import Testing

@testable import REPL

@Suite("When an item was changed") struct SessionChangesTests {
    @Test("is known of what this session saw, and of nothing after a commit of many changes")
    func dates() throws {
        let test = try TestHost()
        try test.enter("items:createItem{ name = 'before' }")
        let changes = SessionChanges()
        test.host.items.addCommitObserver(changes)
        try test.enter("items:createItem{ name = 'after' }")
        let (before, after) = (try #require(test.host.items[0]), try #require(test.host.items[1]))
        #expect(changes.date(of: before) == nil && changes.date(of: after) != nil)
        try test.enter("items[1].room = 'Hall' items:moveItem(1, 2)")
        #expect(changes.date(of: before) != nil)
        try test.enter("for i = 1, 1001 do items:createItem{} end")
        #expect(changes.date(of: before) == nil && changes.date(of: after) == nil)
        test.host.items.removeCommitObserver(changes)
    }

    @Test("is shown with its fields")
    func shown() throws {
        let test = try TestHost()
        let changes = SessionChanges()
        test.host.items.addCommitObserver(changes)
        var printer = ValuePrinter(test.host)
        printer.changed = changes.date
        let values = try test.evaluator.evaluate("items:createItem{ name = 'Lamp' }").get()
        #expect(printer.text(values, seconds: 0).contains("\n (changed)       20"))
        test.host.items.removeCommitObserver(changes)
    }
}
