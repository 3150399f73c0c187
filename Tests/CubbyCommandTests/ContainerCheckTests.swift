import CommandTestSupport
import Files
import Foundation
import TestSupport
import Testing

@Suite("cubby check CONTAINER")
struct ContainerCheckTests {
    let program: Program

    init() throws { program = try Program() }

    private var documents: String { "\(program.container)/Documents" }

    private func fill() throws {
        let output = try program(
            "-e",
            "for i = 1, 30 do items:createItem{ name = 'item ' .. i, itemKey = 'key ' .. i } end assert(items:saveChanges())"
        )
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&data)
        try data.write(to: URL(fileURLWithPath: path))
    }

    @Test func aContainerThatIsWell() throws {
        try fill()
        let output = try program("check", program.container)
        #expect(output.status == .exited(0))
        #expect(output.stdout.contains("items.archive: 30 items"), "\(output.stdout)")
        #expect(output.stdout.hasSuffix("nothing is wrong\n"), "\(output.stdout)")
        #expect(try program("check", "\(program.container)/nowhere").status != .exited(0))
        let folder = try program("check", program.scratch.path)
        #expect(folder.status == .exited(65) && folder.stderr.contains("cubby inspect --json-lines checks"))
    }

    @Test("a damaged archive is explained, repaired, and kept; so are a torn journal, leftovers and lost pictures")
    func repairs() throws {
        try fill()
        try change(program.archive) { $0.removeLast(50) }
        try change("\(documents)/items.journal") { $0.append(contentsOf: [1, 2, 3]) }
        try program.scratch.write("half", to: "container/Documents/.cubby-1-abc-1.tmp")
        let teapot = URL(fileURLWithPath: "\(Project.root)/examples/data/pictures/teapot.jpg")
        let picture = [UInt8](try Data(contentsOf: teapot))
        try program.scratch.write(picture, to: "container/Documents/key 999")
        try program.scratch.write(picture, to: "container/Documents/key 3")
        let damaged = try Data(contentsOf: URL(fileURLWithPath: program.archive))

        let explained = try program("check", program.container)
        #expect(explained.status == .exited(65))
        for part in [
            "items.archive is damaged: 30 items were read", "bytes at the end of the journal cannot be used",
            "the picture key 999 has no item", ".cubby-1-abc-1.tmp is the rest of a write", "--repair would",
        ] {
            #expect(explained.stdout.contains(part), "\(part) is not in \(explained.stdout)")
        }
        #expect(!explained.stdout.contains("key 3 has"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive)) == damaged)

        let repaired = try program("check", "--repair", program.container)
        #expect(repaired.status == .exited(0), "\(repaired.stdout)\(repaired.stderr)")
        #expect(repaired.stdout.contains("repaired: saved 30 items"), "\(repaired.stdout)")
        #expect(try program.scratch.contents(of: "container/Documents/Pictures without items") == ["key 999"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(documents)/items.archive.damaged-1")) == damaged)
        let again = try program("check", program.container)
        #expect(again.status == .exited(0))
        #expect(again.stdout.hasSuffix("nothing is wrong\n"), "\(again.stdout)")
        #expect(again.stdout.contains("items.archive.damaged-1 is kept"))
        #expect(try program("-e", "print(#items, items[30].name)").stdout == "30\titem 30\n")
    }

    @Test("a damaged item of an archive with an index is repaired, or a save keeps it as it was")
    func damagedItem() throws {
        let make = try program(
            "-e",
            "for i = 1, 5000 do items:createItem{ name = ('item %05d of a long name'):format(i) } end assert(items:saveChanges())"
        )
        #expect(make.status == .exited(0))
        // The first reference to a value in the dictionary of an item, whose text comes before it: out of range now.
        try change(program.archive) { data in
            guard let text = data.range(of: Data("item 02500 of".utf8)),
                let marker = data[text.upperBound...].firstIndex(where: { $0 & 0xF0 == 0xD0 })
            else { return }
            data[marker + 1 + 2 * Int(data[marker] & 0x0F)] ^= 0xF0
        }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: program.archive))
        let explained = try program("check", program.container)
        #expect(explained.status == .exited(65), "\(explained.stdout)")
        #expect(explained.stdout.contains("items.archive is damaged"), "\(explained.stdout)")
        let repaired = try program("check", program.container, "--repair")
        #expect(repaired.status == .exited(0), "\(repaired.stdout)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(documents)/items.archive.damaged-1")) == damaged)
        #expect(try program("check", program.container).status == .exited(0))
    }

    @Test("what a repair cannot mend remains an error")
    func remains() throws {
        try fill()
        // A picture that breaks off.
        let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]
        try program.scratch.write(picture, to: "container/Documents/key 3")
        try program.scratch.write("half", to: "container/Documents/.cubby-1-abc-1.tmp")
        let output = try program("check", program.container, "--repair")
        #expect(output.stdout.contains("repaired: removed"), "\(output.stdout)")
        #expect(output.status == .exited(65), "\(output.stdout)")
    }

    @Test("a lost format is written again from the journal, before anything is misread")
    func lostFormat() throws {
        try program.scratch.write("return { { name = 'title', kind = 'string' } }", to: "f.lua")
        let only = try program("fields", "--container", program.container, "--only", program.scratch.file("f.lua"))
        #expect(only.status == .exited(0), "\(only.stderr)")
        _ = try program("-e", "items:createItem{ title = 'A' }")
        let format = "\(program.container)/Library/format"
        for text in ["", nil] {
            try FileManager.default.removeItem(atPath: format)
            if let text { try program.scratch.write(text, to: "container/Library/format") }
            #expect(try program("-e", "items:createItem{ title = 'B' }").status == .exited(65))
            let output = try program("check", program.container, "--repair")
            #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
            #expect(output.stdout.contains("wrote Library/format"), "\(output.stdout)")
            #expect(try program("-e", "print(#items, items[1].title, items[1].name)").stdout == "1\tA\tnil\n")
        }
    }

    @Test("a newer format is told to readers; sql asks for --read-only, and a newer journal is not repaired")
    func newerFormats() throws {
        try fill()
        let journal = "\(documents)/items.journal"
        _ = try program("-e", "items[1].name = 'x'; items:synchronize()")
        try program.scratch.write("999\n", to: "container/Library/format")
        let read = try program("--read-only", "-e", "print(#items)")
        #expect(read.status == .exited(0) && read.stderr.contains("container format 999"), "\(read.stderr)")
        let refused = try program("sql", "SELECT count(*) FROM items")
        #expect(refused.status == .exited(65) && refused.stderr.contains("--read-only"), "\(refused.stderr)")
        let shown = try program("sql", "--read-only", "SELECT count(*) FROM items")
        #expect(shown.status == .exited(0) && shown.stdout.contains("30"), "\(shown.stderr)")
        try FileManager.default.removeItem(atPath: "\(program.container)/Library/format")
        try change(journal) { data in
            data[8] = 99
            withUnsafeBytes(of: Checksum.hash(Array(data[..<56])).littleEndian) {
                data.replaceSubrange(56..<64, with: $0)
            }
        }
        for arguments in [["check", program.container], ["check", program.container, "--repair"]] {
            let output = try program(arguments)
            #expect(output.status == .exited(65), "\(output.stdout)\(output.stderr)")
            #expect(output.stdout.contains("a newer one wrote it") && !output.stdout.contains("--repair would"))
        }
    }

    @Test("a bit that changed in a large archive shows in its checksum")
    func checksum() throws {
        _ = try program(
            "-e",
            "for i = 1, 5000 do items:createItem{ name = ('name %05d of a long name'):format(i) } end assert(items:saveChanges())"
        )
        #expect(try program("check", program.container).stdout.contains("the archive's checksum is right"))
        // In a text in the middle: nothing else would tell. Read from a sample, the archive is still the journal's.
        try change(program.archive) { data in
            if let range = data.range(of: Data("name 02500 of".utf8)) { data[range.lowerBound] = UInt8(ascii: "g") }
        }
        let output = try program("check", program.container)
        #expect(output.stdout.contains("error") || output.stdout.contains("another archive"), "\(output.stdout)")
        #expect(output.status == .exited(65))
    }
}
