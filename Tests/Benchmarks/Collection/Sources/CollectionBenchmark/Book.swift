import Foundation
import GRDB
import Items

/// One model for both stores.
struct Book: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var title: String
    var genre: String
    var pages: Int
    var year: Int
    var price: Double

    init(_ number: Int) {
        title = "Book number \(number)"
        genre = ["novel", "poetry", "science"][number % 3]
        pages = number &* 7919 % 1000
        year = 1500 + number % 500
        price = Double(number % 97) / 4
    }

    static let pages: ItemAttribute<Book, Int> = .init("pages", \.pages)
    static let title: ItemAttribute<Book, String> = .init("title", \.title)
}
