import Foundation
import Items
import TestSupport
import Testing

@testable import Items

@Suite("Following a collection", .serialized, .timeLimit(.minutes(5)))
struct ItemCollectionObservingTests {
    @Test("each commit is an element: what came, changed and went", arguments: Keeper.allCases)
    func changes(_ keeper: Keeper) async throws {
        let kept = try KeptBooks(keeper)
        let books = kept.books
        var all = Book.random(3, seed: 1)
        try await books.insert(all[0])
        var changes = books.changes().makeAsyncIterator()
        try await books.insert(contentsOf: [all[1], all[2]])
        all[0].pages = 77
        all[0].title = "changed"
        try await books.update(all[0])
        let removed = all[1]
        try await books.transaction { books in
            try books.delete(removed)
            let passing = Book()
            try books.insert(passing)
            try books.delete(passing)
        }
        try await kept.database.undo()

        var one = try #require(await changes.next())
        #expect(one.inserted.map(\.model) == [all[1], all[2]] && one.updated.isEmpty && one.removed.isEmpty)
        one = try #require(await changes.next())
        #expect(one.updated == [ItemEntry(key: all[0].id.uuidString, model: all[0])] && one.inserted.isEmpty)
        one = try #require(await changes.next())
        #expect(one.removed == [all[1].id.uuidString] && one.inserted.isEmpty && one.cause == .script)
        one = try #require(await changes.next())
        #expect(one.inserted.map(\.model) == [all[1]] && one.cause == .undo)
    }

    @Test("what is rolled back is not told of; items that are no models are")
    func told() async throws {
        struct Refused: Error {}
        let kept = try KeptBooks()
        var changes = kept.books.changes().makeAsyncIterator()
        try? await kept.books.transaction { books in
            try books.insert(Book())
            throw Refused()
        }
        try await kept.database.withStore { _ = try $0.createItem(ItemFields(name: "lamp")) }
        let one = try #require(await changes.next())
        #expect(one.inserted.isEmpty && one.problems.map(\.field) == ["id"] || one.problems.map(\.field) == ["title"])
    }

    @Test("a query's results come first, and again when they change")
    func results() async throws {
        let kept = try KeptBooks()
        let books = kept.books
        var (long, short) = (Book(), Book())
        (long.pages, short.pages) = (500, 5)
        var results = books.results(where: Book.pages > 100, sortedBy: [.ascending(Book.pages)]).makeAsyncIterator()
        #expect(try await results.next() == [])
        try await books.insert(short)
        try await books.insert(long)
        #expect(try await results.next() == [long])
        // It is no answer yet, and becomes one.
        short.title = "A"
        try await books.update(short)
        short.pages = 101
        try await books.update(short)
        #expect(try await results.next() == [short, long])
        long.title = "Long"
        try await books.update(long)
        #expect(try await results.next() == [short, long])
        try await books.delete(short)
        #expect(try await results.next() == [long])
    }

    @Test("books change while tasks iterate: each ends with the last state")
    func whileIterating() async throws {
        let kept = try KeptBooks()
        let books = kept.books
        let all = Book.random(200, seed: 9)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var elements = 0
                    for try await found in books.results(sortedBy: [.ascending(Book.pages)]) {
                        elements += 1
                        #expect(found == found.enumerated().sorted { ($0.1.pages, $0.0) < ($1.1.pages, $1.0) }.map(\.1))
                        if found.count == all.count { break }
                    }
                    return elements
                }
            }
            for book in all { try await books.insert(book) }
            for try await elements in group { #expect((1...all.count + 1).contains(elements)) }
        }
        #expect(kept.database.commits.count == 0)
    }

    @Test("a cancelled task's iteration ends, and nobody is told any more")
    func cancellation() async throws {
        let kept = try KeptBooks()
        let books = kept.books
        let tasks = [
            Task { for await _ in books.changes() {} },
            Task { do { for try await _ in books.results() {} } catch { Issue.record(error) } },
        ]
        while kept.database.commits.count < 2 { await Task.yield() }
        try await books.insert(Book())
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        #expect(kept.database.commits.count == 0)
        try await books.insert(Book())
        #expect(try await books.count() == 2)
    }

    @Test("many tasks at once, each with its own items", arguments: Keeper.allCases)
    func manyTasks(_ keeper: Keeper) async throws {
        let kept = try KeptBooks(keeper)
        let books = kept.books
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for var book in Book.random(25, seed: UInt64(number)) {
                        try await books.insert(book)
                        book.pages += 1000
                        try await books.update(book)
                        _ = try await books.fetch(where: Book.pages > 1000, limit: 3)
                        if number == 0 { _ = try await books.count() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await books.count(where: Book.pages >= 998) == 200)
        // Increments of one item from many tasks: none is lost.
        let counter = Book()
        try await books.insert(counter)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await #expect(throws: Never.self) {
                        try await books.transaction { books in
                            var book = try #require(try books.model(forKey: counter.id))
                            book.pages += 1
                            try books.update(book)
                        }
                    }
                }
            }
        }
        #expect(try await books.model(forKey: counter.id)?.pages == 50)
    }
}
