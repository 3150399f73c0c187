import Foundation
import KeyedArchive

let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))

final class Note: KeyedCoding {
    static let archivedClass = ArchivedClass("Desk.Note")
    static let supportsSecureCoding = true

    var title: String
    var year: Int

    init(_ title: String, year: Int) { (self.title, self.year) = (title, year) }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(title, forKey: "title")
        try archiver.encode(year, forKey: "date")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        guard let title = try coder.decodeString(forKey: "title") else {
            throw ArchiveError(code: .valueNotFound, message: "a note has a title")
        }
        self.title = title
        year = try coder.decodeInteger(forKey: "date")
    }
}

final class Desk: KeyedCoding {
    static let archivedClass = ArchivedClass("Desk.Desk")
    static let supportsSecureCoding = true

    var notes: [Note]

    init(_ notes: [Note]) { self.notes = notes }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(notes, forKey: "notes")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        notes = try coder.decodeArrayOfObjects(of: Note.self, forKey: "notes") ?? []
    }
}

// The other program's class is this program's, for this archive.
let unarchiver = try KeyedUnarchiver(file, requiresSecureCoding: true)
unarchiver.setClass(Note.self, forClassName: "Note")
guard let note = try unarchiver.decodeObject(of: Note.self, forKey: KeyedArchiver.rootKey) else { exit(1) }
print(note.title, note.year)

let desk = Desk([note, Note("Milk", year: 2026), note])
let bytes = try KeyedArchiver.archivedData(withRootObject: desk, requiringSecureCoding: true)
let notes = try KeyedUnarchiver.unarchivedObject(of: Desk.self, from: bytes)?.notes ?? []
print(bytes.count, "bytes:", notes.map(\.title), notes[0] === notes[2])

for archive in [file, bytes] {
    do {
        _ = try KeyedUnarchiver.unarchivedObject(of: Note.self, from: archive)
    } catch {
        print(error)
    }
}
