import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby fields [FILE]`, and what is declared in later commands on the container.
@Suite("The command fields")
struct FieldsCommandTests {
    let program: Program

    init() throws { program = try Program() }

    private func write(_ text: String) throws -> String {
        try program.scratch.write(text, to: "fields.lua")
        return program.scratch.file("fields.lua")
    }

    @Test("a file declares, and the table has what is declared")
    func declares() throws {
        let file = try write(
            """
            return {
              sku = { kind = "string", unique = true, desc = "the label below" },
              paid = { kind = "real", least = 0, format = "money" },
              bought = { kind = "date", least = date("2000-01-01"), format = "day" },
            }
            """)
        let output = try program("fields", file)
        #expect(output.status == .exited(0), "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n")
        #expect(lines.count == 9, "\(output.stdout)")
        #expect(lines.contains { $0.hasPrefix(" sku ") && $0.contains("unique") && $0.hasSuffix("the label below") })
        #expect(lines.contains { $0.hasPrefix(" paid ") && $0.contains("money") && $0.contains("at least 0.0") })
        // Another process has them.
        let denied = try program("-e", "items:createItem{ sku = '7', paid = 'much' }")
        #expect(denied.status == .exited(1))
        #expect(denied.stderr.contains("paid is declared as a real: \"much\" is not one"), "\(denied.stderr)")
        #expect(try program("fields").stdout == output.stdout)
        let again = try program("fields", file)
        #expect(again.stdout == output.stdout && again.stderr.isEmpty)
    }

    @Test("over items that do not fit nothing is declared; --convert converts what can be")
    func misfits() throws {
        #expect(try program("-e", "items:createItem{ name = 'Vase', width = '13.5' }").status == .exited(0))
        let file = try write("return { width = 'real' }")
        let denied = try program("fields", file)
        #expect(denied.status != .exited(0) && denied.stdout.isEmpty)
        #expect(denied.stderr.contains("1 item does not fit width, a real: \"13.5\" in \"Vase\""), "\(denied.stderr)")
        let converted = try program("fields", "--convert", file)
        #expect(converted.status == .exited(0), "\(converted.stderr)")
        #expect(try program("-e", "items[1].width").stdout == "13.5\n")
        #expect(try program("fields", "--convert").status == .exited(64))
    }

    @Test(
        "a file that declares nothing is an error",
        arguments: ["return 1", "return { width = 'colour' }", "return {", "return { [true] = 'real' }"])
    func errors(text: String) throws {
        let output = try program("fields", try write(text))
        #expect(output.status != .exited(0) && output.stdout.isEmpty)
        #expect(!output.stderr.isEmpty && !output.stderr.contains("traceback"), "\(output.stderr)")
        #expect(try program("fields").stdout.split(separator: "\n").count == 6)
    }

    @Test("an import rejects the rows that do not fit")
    func imports() throws {
        #expect(try program("fields", try write("return { price = 'real' }")).status == .exited(0))
        let file = program.scratch.file("i.csv")
        try program.scratch.write("name,price\nLamp,12\nBear,n/a\n", to: "i.csv")
        let output = try program("import", "--on-error", "skip", file)
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout.contains("1 created, 0 updated, 0 unchanged, 1 rejected"), "\(output.stdout)")
    }
}
