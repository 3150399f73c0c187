import Foundation
import TestSupport
import Testing

/// The programs of examples/Tools, each on one product: those of `docs/products`.
@Suite("Tools", .serialized)
struct ToolsTests {
    /// A program and its page.
    struct Tool: CustomTestStringConvertible {
        let name: String
        let page: String

        var testDescription: String { name }

        /// The block of the page behind a text.
        func block(_ language: String, after start: String = "") throws -> String {
            let text = try DocumentedText.file("docs/products/\(page).md")
            return try DocumentedText.between("\(start)```\(language)\n", "```", in: text)
        }
    }

    static let table = Tool(name: "table", page: "csv")
    static let shopping = Tool(name: "shopping", page: "line-editor")
    static let notes = Tool(name: "notes", page: "keyed-archive")

    @Test("have the pages' lines", arguments: [table, shopping, notes])
    func lines(tool: Tool) throws {
        #expect(try DocumentedText.file("examples/Tools/Sources/\(tool.name)/main.swift") == tool.block("swift"))
    }

    @Test(
        "print what the pages say", .enabled(if: ExamplePackage.areAllTried, "scripts/test --all"),
        .timeLimit(.minutes(15)))
    func programs() throws {
        let package = try ExamplePackage("Tools")
        let table = try run(package.program("table"), input: Self.table.block("text"))
        #expect(table.stdout == (try Self.table.block("text", after: "prints:\n\n")), "\(table.stderr)")

        let archive = "Tests/Fixtures/archives/michaelwright235_nskeyedunarchiver__note.plist"
        let notes = try run(package.program("notes"), ["\(Project.root)/\(archive)"])
        #expect(notes.stdout == (try Self.notes.block("text")), "\(notes.stderr)")

        let directory = try TemporaryDirectory()
        let history = directory.file(".shopping")
        try #"["add bread"]"#.write(toFile: history, atomically: true, encoding: .utf8)
        let keys = "a\t milk\rd\t b\t\r\u{10}\u{10}\u{10}\r\u{4}"
        let shopping = try run(package.program("shopping"), input: keys, directory: directory.path)
        var screen = Screen(columns: 80, rows: 24)
        screen.apply(Array(shopping.stdout.utf8))
        #expect(screen.lines.joined(separator: "\n") + "\n" == (try Self.shopping.block("text")), "\(shopping.stderr)")
        #expect(try DocumentedText.file(history).contains("drop butter"))
    }
}
