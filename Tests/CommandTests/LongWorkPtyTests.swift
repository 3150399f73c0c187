import Foundation
import TestSupport
import Testing

/// Work that takes a while, at the prompt: a bar that can be read, and Ctrl-C that leaves nothing half.
@Suite(
    "Long work at the prompt", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"),
    .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"))
struct LongWorkPtyTests {
    @Test("an import of the museum shows how far it is; Ctrl-C takes it back, and the next one is whole")
    func importing() throws {
        let program = try Program()
        // The museum six times over: the bar comes after a moment, and once is imported before it.
        let museum = try Data(contentsOf: URL(fileURLWithPath: #require(Project.sharedData("carnegie.csv"))))
        let header = try #require(museum.firstIndex(of: UInt8(ascii: "\n")))
        var copies = museum
        for _ in 1..<6 { copies += museum[(header + 1)...] }
        let csv = program.scratch.file("museum.csv")
        try copies.write(to: URL(fileURLWithPath: csv))
        let terminal = try program.terminal("--allow-read", csv)
        try terminal.waitForPrompt()
        let entry = "items:import('\(csv)', { map = { title = 'name' }, progress = true })"
        try terminal.enter("items:createItem{ name = 'Lamp' } print('rea' .. 'dy')", andExpect: "ready")
        try terminal.sendLine(entry)
        // Bytes are told as people read them, and the bar goes on.
        try terminal.expect(matching: #"Importing █*░+ \d+\.\d of 6\d\.\d MB · \d+ s left"#, timeout: 60)
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.expect("> ")
        try terminal.enter("print('ite' .. 'ms', #items, items[1].name, items.hasChanges)", andExpect: "items\t1\tLamp")
        #expect(try program.itemCount() == "1", "the journal has nothing of it")

        try terminal.sendLine(entry)
        try terminal.expect("168858\n", timeout: 120)
        try terminal.expect("> ")
        try terminal.enter("print('ite' .. 'ms', #items)", andExpect: "items\t168859")
        // Taken back as one step.
        try terminal.sendLine(":undo")
        try terminal.expect("Take back: 168,858 items created? [y]es, [n]o: ")
        try terminal.sendLine("n")
        try terminal.expect("nothing was taken back")
        try terminal.sendLine(":undo")
        try terminal.expect("[n]o: ")
        try terminal.sendLine("y")
        try terminal.expect("undone: 168,858 items created")
    }
}
