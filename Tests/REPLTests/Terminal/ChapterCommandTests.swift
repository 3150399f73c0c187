import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby chapter` in a terminal: it has a container of its own, and is resumed where it was left.
@Suite("The chapter's command")
struct ChapterCommandTests {
    @Test("it is left and resumed, and its items are not those of the usual container")
    func resumed() throws {
        let program = try Program()
        let first = try program.terminal("chapter", "--no-color", columns: 80, rows: 24)
        try first.expect("1 of 15: The item")
        try first.expect("> ")
        try first.sendLine("items:createItem{ name = 'Lamp' }")
        try first.expect("✓ The item")
        try first.expect("2 of 15")
        try first.sendLine(":quit")
        #expect(try first.waitForExit() == .exited(0))
        let second = try program.terminal("chapter", "--no-color", columns: 80, rows: 24)
        try second.expect("goes on where it was left")
        try second.expect("2 of 15")
        try second.expect("> ")
        try second.sendLine("#items")
        try second.expect("1")
        try second.send(control: "d")
        #expect(try second.waitForExit() == .exited(0))
        #expect(try program("-e", "#items").stdout == "0\n")
    }

    @Test("without a terminal it says where the steps are to read")
    func withoutTerminal() throws {
        let result = try Program()("chapter")
        #expect(result.status == .exited(64) && result.stderr.contains("docs/chapter.md"))
    }
}
