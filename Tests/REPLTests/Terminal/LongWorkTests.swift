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
}
