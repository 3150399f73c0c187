import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// The example of `docs/products/keyed-archive.md`: the page has the same lines, and what they print.
@Suite("Keyed archives: the documented example") struct DocumentedProgramTests {
    private static let page = "docs/products/keyed-archive.md"

    @Test("objects are read, written and refused, and the page shows what is printed")
    func example() throws {
        let fixture = "Tests/Fixtures/archives/michaelwright235_nskeyedunarchiver__note.plist"
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Project.root)/\(fixture)")))
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
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
        // Page ends.

        let page = try DocumentedText.file(Self.page)
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
        let head = """
            import Foundation
            import KeyedArchive

            let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))


            """
        let lines = try DocumentedText.example(in: #filePath)
        #expect(try DocumentedText.between("```swift\n", "```", in: page) == head + lines)

        // A class's own error has the keys that lead to it.
        let untitled = try KeyedArchiver.archivedData(
            withRootObject: Other(
                Desk.archivedClass,
                [
                    Other(Note.archivedClass, [])
                ]))
        let refusal = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedObject(of: Desk.self, from: untitled)
        }
        #expect(refusal?.code == .valueNotFound && refusal?.description == "root.notes: a note has a title")

        // What the page says of misuse.
        let odd = try KeyedArchiver.archivedData(
            withRootObject: Other(
                Desk.archivedClass,
                [
                    Other(Note.archivedClass, nil)
                ]))
        let wrong = try KeyedArchiver.archivedData(withRootObject: Other(Desk.archivedClass, [Desk([])]))
        for body: () throws -> Void in [
            { _ = try KeyedUnarchiver(file).decodeObject(of: Note.self, forKey: KeyedArchiver.rootKey) },
            { _ = try KeyedUnarchiver.unarchivedObject(of: Desk.self, from: odd) },
            { _ = try KeyedUnarchiver.unarchivedObject(of: Desk.self, from: wrong) },
            {
                _ = try KeyedArchiver.archivedData(
                    withRootObject: Other(Note.archivedClass, nil), requiringSecureCoding: true)
            },
            {
                let archiver = KeyedArchiver()
                try archiver.encode("a", forKey: "title")
                try archiver.encode("b", forKey: "title")
            },
            { _ = try KeyedUnarchiver(PropertyListValue.array([]).encoded(as: .binary)) },
        ] {
            let error = #expect(throws: ArchiveError.self) { try body() }
            #expect(page.contains("`\(error?.description ?? "")`"), "\(error?.description ?? "")")
        }
    }

    /// An object of any class: with these notes, or with a title that is a number.
    private final class Other: KeyedEncodable {
        let classForKeyedArchiver: ArchivedClass
        private let notes: [any KeyedEncodable]?

        init(_ archivedClass: ArchivedClass, _ notes: [any KeyedEncodable]?) {
            classForKeyedArchiver = archivedClass
            self.notes = notes
        }

        func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
            guard let notes else { return try archiver.encode(3, forKey: "title") }
            try archiver.encode(notes, forKey: "notes")
        }
    }
}
