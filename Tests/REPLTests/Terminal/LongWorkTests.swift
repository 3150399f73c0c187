import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// Work that takes a while, at the prompt: Ctrl-C leaves nothing half, and a question's time is not the entry's.
@Suite("Work at the prompt", .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"))
struct LongWorkTests {
    @Test("Ctrl-C in a loop over the museum's rows: the transaction is taken back, without one the rows stay")
    func loop() throws {
        let program = try Program()
        let csv = try #require(Project.sharedData("carnegie.csv"))
        let terminal = try program.terminal("--allow-read", csv)
        try terminal.waitForPrompt()
        let body =
            "local n = 0 for row in csv.rows('\(csv)') do items:createItem{ name = row.title } n = n + 1 if n == 500 then print('fi' .. 've hundred') while true do end end end"
        try terminal.begin("items:transaction(function() \(body) end)", andExpect: "five hundred")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.enter("print('ite' .. 'ms', #items)", andExpect: "items\t0")
        try terminal.begin(body, andExpect: "five hundred")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.enter("print('ite' .. 'ms', #items)", andExpect: "items\t500")
    }

    @Test("an entry's time leaves out what its question waited for the answer")
    func questionTime() throws {
        let program = try Program()
        let file = try program.scratch.write("one\ntwo\n", to: "names.txt")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.begin(
            "for line in io.lines('\(file)') do items:createItem{ name = line } end", andExpect: "[n]o: ")
        // The wait is what is tested.
        usleep(1_200_000)
        try terminal.sendLine("y")
        try terminal.expect(matching: #"2 items created · \d+ (ms|µs)"#)
    }

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
