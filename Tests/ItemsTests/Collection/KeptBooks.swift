import Foundation
import Items
import ItemsTestSupport

/// What keeps a test's books.
enum Keeper: CaseIterable { case memory, archive }

/// A database of books that a test owns, with its folder.
struct KeptBooks {
    let folder: StoreFolder
    let database: ItemDatabase
    let books: ItemCollection<Book>

    init(_ keeper: Keeper = .memory) throws {
        folder = try StoreFolder()
        let pictures = folder.path + "/Pictures"
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        switch keeper {
        case .memory: database = try ItemDatabase(attachments: pictures)
        case .archive: database = try ItemDatabase(ArchivePersistence(folder: folder.path), attachments: pictures)
        }
        books = database.collection(of: Book.self)
    }
}
