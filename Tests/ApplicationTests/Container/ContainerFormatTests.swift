import Files
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("The format of a container")
struct ContainerFormatTests {
    let scratch: TemporaryDirectory
    let container: ApplicationContainer

    init() throws {
        scratch = try TemporaryDirectory()
        container = ApplicationContainer(path: scratch.file("box"))
    }

    @Test(
        "one that is not there, one without a number, and one of a known number are opened",
        arguments: [nil, "1", "1\n", "2\n"])
    func known(text: String?) throws {
        try ContainerFormat.check(container)
        try container.create()
        if let text { try scratch.write(text, to: "box/\(ContainerFormat.file)") }
        try ContainerFormat.check(container)
        _ = try OpenedContainer(container)
    }

    @Test(
        "any other number, and what is none, is refused before anything is made; only reading is not",
        arguments: ["3\n", "0", "-1", "1 ", "", "99999999999999999999", "\u{1B}[2J"])
    func unknown(text: String) throws {
        try scratch.write(text, to: "box/\(ContainerFormat.file)")
        let error = try #require(throws: ContainerFormatError.self) { _ = try OpenedContainer(container) }
        #expect(!error.description.contains("\u{1B}"))
        #expect(scratch.names("box/Library") == ["format"])
        #expect(try OpenedContainer(container, isReadOnly: true).notice == error.notice)
        // Only a greater number is a newer program's.
        let isNewer = text.hasPrefix("3") || text.hasPrefix("9")
        #expect(error.description.contains("a newer cubby wrote it") == isNewer)
        #expect(error.description.contains("Library/format is damaged") == !isNewer)
    }

    @Test("a link in its place, and a file that is not a number's length, are errors of the file")
    func misplaced() throws {
        try scratch.write(String(repeating: "1", count: 1000), to: "box/\(ContainerFormat.file)")
        #expect(throws: FileError.self) { try ContainerFormat.check(container) }
        try container.create()
        try PosixFileLayer().remove(scratch.file("box/\(ContainerFormat.file)"))
        try scratch.write("1", to: "elsewhere")
        symlink(scratch.file("elsewhere"), scratch.file("box/\(ContainerFormat.file)"))
        #expect(throws: FileError.self) { try ContainerFormat.check(container) }
    }
}
