import Foundation
import Items
import PredicateFormat
import TestSupport
import Testing

@Suite("Conditions on models")
struct ItemConditionTests {
    /// A condition and the same as a function.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let condition: ItemCondition<Book>
        let holds: @Sendable (Book) -> Bool

        init(_ name: String, _ condition: ItemCondition<Book>, _ holds: @escaping @Sendable (Book) -> Bool) {
            (testDescription, self.condition, self.holds) = (name, condition, holds)
        }
    }

    static let aDate = Date(timeIntervalSinceReferenceDate: 4 * 86400.5)
    static let aPage = URL(string: "https://example.org/2")

    static let simple: [Case] = [
        Case("pages >", Book.pages > 7) { $0.pages > 7 },
        Case("pages >=", Book.pages >= 7) { $0.pages >= 7 },
        Case("pages <", Book.pages < 7) { $0.pages < 7 },
        Case("pages <=", Book.pages <= 7) { $0.pages <= 7 },
        Case("pages ==", Book.pages == 7) { $0.pages == 7 },
        Case("pages !=", Book.pages != 7) { $0.pages != 7 },
        Case("pages between", Book.pages.isBetween(3...9)) { (3...9).contains($0.pages) },
        Case("pages in", Book.pages.isIn([1, 5, 9])) { [1, 5, 9].contains($0.pages) },
        Case("price <", Book.price < 2.5) { $0.price < 2.5 },
        Case("weight ==", Book.weight == 1.5) { $0.weight == 1.5 },
        Case("lent", Book.isLent == true) { $0.isLent },
        Case("not lent", Book.isLent != true) { !$0.isLent },
        Case("printed <", Book.printed < aDate) { $0.printed < aDate },
        Case("printed ==", Book.printed == aDate) { $0.printed == aDate },
        Case("unread", Book.read == nil) { $0.read == nil },
        Case("read", Book.read != nil) { $0.read != nil },
        Case("rating >", Book.rating > 2) { $0.rating.map { $0 > 2 } ?? false },
        Case("rating !=", Book.rating != 2) { $0.rating != 2 },
        Case("no rating", Book.rating == nil) { $0.rating == nil },
        Case("rating in", Book.rating.isIn([2, 4])) { $0.rating.map([2, 4].contains) ?? false },
        Case("genre", Book.genre == .poetry) { $0.genre == .poetry },
        Case("genre in", Book.genre.isIn([.novel, .science])) { $0.genre != .poetry },
        Case("shelf", Book.shelf == .high) { $0.shelf == .high },
        Case("no shelf", Book.shelf == nil) { $0.shelf == nil },
        Case("title ==", Book.title == "Anna") { $0.title == "Anna" },
        Case("title ==[c]", Book.title.isEqual(to: "ANNA", .caseInsensitive)) { $0.title.lowercased() == "anna" },
        Case("title >", Book.title > "Anna") {
            $0.title.utf8.lexicographicallyPrecedes("Anna".utf8) == false && $0.title != "Anna"
        },
        Case("prefix", Book.title.hasPrefix("An")) { $0.title.hasPrefix("An") },
        Case("suffix", Book.title.hasSuffix("es")) { $0.title.hasSuffix("es") },
        Case("contains", Book.title.contains("n")) { $0.title.contains("n") },
        Case("prefix[d]", Book.title.hasPrefix("Oster", .diacriticInsensitive)) { $0.title.hasPrefix("Öster") },
        Case("like", Book.title.isLike("A*a")) { $0.title.hasPrefix("A") && $0.title.hasSuffix("a") },
        Case("matches", Book.title.matches("[AB].*")) { $0.title.hasPrefix("A") || $0.title.hasPrefix("B") },
        Case("invalid pattern", Book.title.matches("(")) { _ in false },
        Case("optional text", Book.note.contains("good", .caseInsensitive)) {
            $0.note?.lowercased().contains("good") ?? false
        },
        Case("tags", Book.tags.contains("rare")) { $0.tags.contains("rare") },
        Case("tags ==", Book.tags == ["old"]) { $0.tags == ["old"] },
        Case("cover", Book.cover == Data([1])) { $0.cover == Data([1]) },
        Case("page", Book.page == aPage) { $0.page == aPage },
        Case("series", Book.series == Book.knownSeries[1]) { $0.series == Book.knownSeries[1] },
        Case("copies", Book.copies == UInt64.max) { $0.copies == .max },
        Case("copies >", Book.copies > UInt64(Int64.max)) { $0.copies > UInt64(Int64.max) },
        Case("nested", Book.city == "Bonn") { $0.publisher.city == "Bonn" },
        Case("nested optional", Book.founded >= 1902) { $0.publisher.founded.map { $0 >= 1902 } ?? false },
        Case("none", Book.pages.isIn([])) { _ in false },
    ]

    @Test("a condition selects what a function of the model does", arguments: simple)
    func one(_ one: Case) async throws {
        let all = Book.random(300, seed: 7)
        let books = try KeptBooks().books
        try await books.insert(contentsOf: all)
        let found = try await books.fetch(where: one.condition)
        #expect(found == all.filter(one.holds))
        #expect(try await books.count(where: one.condition) == found.count)
        #expect(try await books.fetch(where: !one.condition) == all.filter { !one.holds($0) })
    }

    /// A condition of several levels.
    static func random(_ random: inout TestGenerator, depth: Int) -> Case {
        guard depth > 0, let one = simple.randomElement(using: &random) else { return simple[0] }
        let other = Self.random(&random, depth: depth - 1)
        switch Int.random(in: 0...3, using: &random) {
        case 0:
            return Case("\(one.testDescription) && \(other.testDescription)", one.condition && other.condition) {
                one.holds($0) && other.holds($0)
            }
        case 1:
            return Case("\(one.testDescription) || (\(other.testDescription))", one.condition || other.condition) {
                one.holds($0) || other.holds($0)
            }
        case 2: return Case("!(\(other.testDescription))", !other.condition) { !other.holds($0) }
        default: return one
        }
    }

    @Test("random conditions, with and without indexes, over both persistences", arguments: Keeper.allCases)
    func many(_ keeper: Keeper) async throws {
        var generator = TestGenerator(seed: 11)
        var all = Book.random(400, seed: 13)
        let kept = try KeptBooks(keeper)
        try await kept.books.insert(contentsOf: all)
        for round in 0..<120 {
            if round == 40 { try await kept.database.createIndex(on: Book.pages) }
            if round == 60 { try await kept.database.createIndex(on: Book.title) }
            let one = Self.random(&generator, depth: 4)
            let found = try await kept.books.fetch(
                where: one.condition, sortedBy: [.descending(Book.pages), .ascending(Book.price)], limit: 50, offset: 2)
            let expected = all.enumerated().filter { one.holds($0.element) }.sorted {
                ($1.element.pages, $0.element.price, $0.offset) < ($0.element.pages, $1.element.price, $1.offset)
            }
            #expect(found == expected.dropFirst(2).prefix(50).map(\.element), "\(one.testDescription)")
            // The model changes with the items.
            let place = round * 3
            all[place].pages = round
            all[place].rating = nil
            #expect(try await kept.books.update(all[place]))
        }
    }

    @Test("a condition on an indexed field, and on the key, is answered by an index")
    func plans() async throws {
        let kept = try KeptBooks()
        let all = Book.random(500, seed: 3)
        try await kept.books.insert(contentsOf: all)
        try await kept.database.createIndex(on: Book.pages)
        let id = all[99].id
        #expect(try await kept.books.fetch(where: Book.id == id) == [all[99]])
        let plans = try await kept.books.transaction { books in
            [
                try books.store.query(
                    FormatPredicate(format: "pages > 18 AND rating == 3 AND (itemKind == 'Book' OR itemKind == nil)")
                ).explain(),
                try books.explain(where: Book.pages > 18 && Book.rating == 3),
                try books.explain(where: Book.id == id),
            ]
        }
        func operations(_ plan: ItemQueryPlan) -> [ItemQueryPlan.Operator] {
            [plan.operation] + plan.children.flatMap(operations)
        }
        #expect(operations(plans[0]) == operations(plans[1]))
        #expect(operations(plans[1]).contains(.index))
        #expect(operations(plans[2]).contains(.keys))
    }

    @Test("a question about a field that no item has yet is none to refuse")
    func empty() async throws {
        let books = try KeptBooks().books
        #expect(try await books.fetch(where: Book.pages > 1, sortedBy: [.ascending(Book.price)]).isEmpty)
        #expect(try await books.sum(Book.pages) == 0)
        #expect(try await books.average(Book.pages) == nil)
        #expect(try await books.max(Book.title) == nil)
        #expect(try await books.counts(by: Book.genre).isEmpty)
    }
}
