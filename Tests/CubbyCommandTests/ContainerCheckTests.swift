import CommandTestSupport
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
        let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]
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
