import Foundation
import KeyedArchive
import TestSupport
import Testing

// The classes of docs/archive.md, as they stand there.

final class Photo: KeyedCoding, KeyedCopying {
    static let archivedClass = ArchivedClass("Photo")
    static let supportsSecureCoding = true

    var title: String?
    var stars: Int
    weak var album: Album?

    init(_ title: String, stars: Int, album: Album? = nil) {
        self.title = title
        self.stars = stars
        self.album = album
    }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(title, forKey: "title")
        try archiver.encode(stars, forKey: "stars")
        try archiver.encodeConditionalObject(album, forKey: "album")  // kept if someone else encodes the album
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        title = try coder.decodeString(forKey: "title")
        stars = try coder.decodeInteger(forKey: "stars")
        album = try coder.decodeObject(of: Album.self, forKey: "album")
    }

    func copy(with copier: KeyedCopier) throws(ArchiveError) -> Photo {
        Photo(
            title ?? "", stars: stars, album: try album.map { (album) throws(ArchiveError) in try copier.copy(album) })
    }
}

final class Album: KeyedCoding, KeyedCopying {
    static let archivedClass = ArchivedClass("Album")
    static let supportsSecureCoding = true

    var photos: [Photo] = []

    init() {}

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(photos, forKey: "photos")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        coder.adopt(self)  // its photos refer back to it while they are decoded
        photos = try coder.decodeArrayOfObjects(of: Photo.self, forKey: "photos") ?? []
    }

    func copy(with copier: KeyedCopier) throws(ArchiveError) -> Album {
        let copy = Album()
        copier.adopt(copy, for: self)
        for photo in photos { copy.photos.append(try copier.copy(photo)) }
        return copy
    }
}

@Suite("The classes of the documents")
struct DocumentedClassTests {
    @Test("archive, unarchive and copy themselves as docs/archive.md says")
    func runs() throws {
        let album = Album()
        album.photos = [Photo("Alps", stars: 4, album: album), Photo("Sea", stars: 5, album: album)]
        let bytes = try KeyedArchiver.archivedData(withRootObject: album, requiringSecureCoding: true)
        let unarchiver = try KeyedUnarchiver(bytes, classes: [Album.self, Photo.self], requiresSecureCoding: true)
        let back = try unarchiver.decodeObject(of: Album.self, forKey: KeyedArchiver.rootKey)
        let copy = try album.copy()
        #expect(back?.photos.map(\.title) == ["Alps", "Sea"])
        #expect(back?.photos.allSatisfy { $0.album === back } == true)
        #expect(copy.photos[0] !== album.photos[0] && copy.photos[0].album === copy)
    }

    @Test("stand in docs/archive.md line by line")
    func documented() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let document = try String(contentsOfFile: "\(Project.root)/docs/archive.md", encoding: .utf8)
        let blocks = document.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let lines = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let documented = blocks.filter {
            $0.contains("KeyedCoding") || $0.contains("try KeyedUnarchiver(bytes, classes")
        }
        #expect(documented.count == 2)
        for line in documented.joined().split(separator: "\n") {
            #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
    }
}
