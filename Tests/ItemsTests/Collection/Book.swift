import Foundation
import Items
import TestSupport

/// A model with a property of each kind that fields keep.
struct Book: Codable, Sendable, Hashable, Identifiable {
    enum Genre: String, Codable, ItemValue, CaseIterable { case novel, poetry, science }
    enum Shelf: Int, Codable, ItemValue, CaseIterable { case low = 1, high = 2 }

    struct Publisher: Codable, Sendable, Hashable {
        var city: String
        var founded: Int?
        var offices: [String: Double]
    }

    var id = UUID()
    var title = ""
    var pages = 0
    var price = 0.0
    var weight: Float = 0
    var isLent = false
    var printed = Date(timeIntervalSinceReferenceDate: 0)
    var read: Date?
    var rating: Int?
    var note: String?
    var genre = Genre.novel
    var shelf: Shelf?
    var tags: [String] = []
    var cover = Data()
    var page: URL?
    var series: UUID?
    var copies: UInt64 = 1
    var publisher = Publisher(city: "Paris", founded: nil, offices: [:])
    var editions: [Publisher] = []
}

extension Book {
    static let id: ItemAttribute<Book, UUID> = .init("id", \.id)
    static let title: ItemAttribute<Book, String> = .init("title", \.title)
    static let pages: ItemAttribute<Book, Int> = .init("pages", \.pages)
    static let price: ItemAttribute<Book, Double> = .init("price", \.price)
    static let weight: ItemAttribute<Book, Float> = .init("weight", \.weight)
    static let isLent: ItemAttribute<Book, Bool> = .init("isLent", \.isLent)
    static let printed: ItemAttribute<Book, Date> = .init("printed", \.printed)
    static let read: ItemAttribute<Book, Date?> = .init("read", \.read)
    static let rating: ItemAttribute<Book, Int?> = .init("rating", \.rating)
    static let note: ItemAttribute<Book, String?> = .init("note", \.note)
    static let genre: ItemAttribute<Book, Genre> = .init("genre", \.genre)
    static let shelf: ItemAttribute<Book, Shelf?> = .init("shelf", \.shelf)
    static let tags: ItemAttribute<Book, [String]> = .init("tags", \.tags)
    static let cover: ItemAttribute<Book, Data> = .init("cover", \.cover)
    static let page: ItemAttribute<Book, URL?> = .init("page", \.page)
    static let series: ItemAttribute<Book, UUID?> = .init("series", \.series)
    static let copies: ItemAttribute<Book, UInt64> = .init("copies", \.copies)
    static let city: ItemAttribute<Book, String> = .init("publisher.city", \.publisher.city)
    static let founded: ItemAttribute<Book, Int?> = .init("publisher.founded", \.publisher.founded)
}

extension Book {
    static let knownSeries = (1...3).map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)) }

    /// A book of small ranges, so that conditions hold for some of many.
    static func random(_ random: inout some RandomNumberGenerator) -> Book {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var book = Book()
        book.title = ["Ada", "Anna", "anna", "Bel Ami", "Österreich", "Ulysses", ""][number(0...6)]
        book.pages = number(-2...20)
        book.price = Double(number(-4...40)) / 4
        book.weight = Float(number(0...10)) / 2
        book.isLent = number(0...1) == 1
        book.printed = Date(timeIntervalSinceReferenceDate: Double(number(0...9)) * 86400.5)
        book.read = maybe(Date(timeIntervalSinceReferenceDate: Double(number(0...9))))
        book.rating = maybe(number(1...5))
        book.note = maybe(["good", "Good", "long, good", "bad"][number(0...3)])
        book.genre = Genre.allCases[number(0...2)]
        book.shelf = maybe(Shelf.allCases[number(0...1)])
        book.tags = (0..<number(0...3)).map { _ in ["old", "gift", "rare"][number(0...2)] }
        book.cover = Data((0..<number(0...2)).map { _ in UInt8(number(0...2)) })
        book.page = maybe(URL(string: "https://example.org/\(number(0...3))")).flatMap { $0 }
        book.series = maybe(knownSeries[number(0...2)])
        book.copies = [0, 1, UInt64(Int64.max), UInt64.max][number(0...3)]
        book.publisher = Publisher(
            city: ["Paris", "Bonn"][number(0...1)], founded: maybe(number(1900...1903)),
            offices: number(0...1) == 0 ? [:] : ["east": Double(number(0...3))])
        book.editions = (0..<number(0...2)).map { Publisher(city: "\($0)", founded: maybe($0), offices: ["x": 0.5]) }
        return book
    }

    static func random(_ count: Int, seed: UInt64) -> [Book] {
        var random = TestGenerator(seed: seed)
        return (0..<count).map { _ in Book.random(&random) }
    }
}
