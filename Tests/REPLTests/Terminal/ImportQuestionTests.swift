import CommandTestSupport
import TestSupport
import Testing

/// `cubby import` on a terminal: it asks what columns become that are not known yet, and keeps the answer.
@Suite("An import that asks")
struct ImportQuestionTests {
    private let program: Program
    private let path: String

    init() throws {
        program = try Program()
        path = try program.scratch.write("Item;Price;Old\nDesk;12,50;x\nLamp;9,00;y\n", to: "things.csv")
    }

    @Test("Enter accepts; the answer is a profile that the next file and a job need no question for") func asks() throws
    {
        let terminal = try program.terminal(["import", path], columns: 80, rows: 12, environment: [:])
        try terminal.expect("> Item")
        // The third column is left out, the first is the key.
        try terminal.send("k\u{1B}[B\u{1B}[Bx")
        try terminal.expect("left out")
        try terminal.send("\r")
        try terminal.expect("kept as the profile things")
        try terminal.expect("2 created")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(
            try program("-e", "local i = items[1] print(i.name, i.Price, i.Old, #items)").stdout
                == "Desk\t12.5\tnil\t2\n")
        _ = try program.scratch.write("Item;Price;Old\nDesk;13,50;x\nRug;9,00;y\n", to: "june.csv")
        let again = try program("import", program.scratch.file("june.csv"))
        #expect(again.stdout == "1 created, 1 updated, 0 unchanged, 0 rejected\n", "\(again.stdout)\(again.stderr)")
        #expect(again.stderr.contains("the columns are those of the profile things"))
        #expect(
            try program("import", program.scratch.file("june.csv"), "--profile", "things").stdout.contains(
                "2 unchanged"))
        let wrong = try program("import", path, "--profile", "thing")
        #expect(wrong.status == .exited(64) && wrong.stderr.contains("did you mean"), "\(wrong.stderr)")
    }

    @Test("a file of records asks as well; values keep their kinds") func records() throws {
        let records = try program.scratch.write(
            #"[{"sku":"A1","n":5,"tags":["x"]},{"sku":"A2","n":2.5}]"#, to: "stock.json")
        let terminal = try program.terminal(["import", records], columns: 80, rows: 12, environment: [:])
        try terminal.expect("no column is the name of the items")
        try terminal.expect("> n")
        // The second column is the name, and the key.
        try terminal.send("\u{1B}[Bf\u{15}name\r")
        try terminal.send("k")
        try terminal.expect("name (key)")
        try terminal.send("\r")
        try terminal.expect("2 created")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(
            try program("-e", "local i = items[1] print(i.name, i.n, i.tags[1], i.sku, #items)").stdout
                == "A1\t5\tx\tnil\t2\n")
        _ = try program.scratch.write(
            #"[{"sku":"A1","n":7,"tags":["y"]},{"sku":"A3","n":1}]"#, to: "june.json")
        let again = try program("import", program.scratch.file("june.json"))
        #expect(again.stdout == "1 created, 1 updated, 0 unchanged, 0 rejected\n", "\(again.stdout)\(again.stderr)")
    }

    @Test("q cancels, and nothing is imported; --no-ask does not ask") func cancels() throws {
        let terminal = try program.terminal(["import", path], columns: 40, rows: 8, environment: [:])
        try terminal.expect("> Item")
        try terminal.send("q")
        try terminal.expect("cancelled: nothing was imported")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try program("-e", "print(#items)").stdout == "0\n")
        let silent = try program.terminal(["import", path, "--no-ask"], columns: 80, rows: 8, environment: [:])
        try silent.expect("2 created")
        #expect(try silent.waitForExit() == .exited(0))
    }
}
