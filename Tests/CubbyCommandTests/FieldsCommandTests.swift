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

/// `cubby fields --only FILE`: containers whose items have no fields of a household.
@Suite("Containers with fields of their own")
struct OwnFieldsTests {
    let program: Program
    private let file: String

    init() throws {
        program = try Program()
        try program.scratch.write(
            """
            return {
              { name = "title", kind = "string", required = true },
              { name = "isbn", kind = "string", unique = true, desc = "as printed" },
              { name = "price", kind = "real", format = "money" },
            }
            """, to: "fields.lua")
        file = program.scratch.file("fields.lua")
    }

    private func run(_ words: String...) throws -> String {
        let output = try program(words)
        #expect(output.status == .exited(0), "\(words): \(output.stderr)")
        return output.stdout
    }

    @Test("items have the file's fields and none of a household's: in tables, exports, reports, help and completion")
    func own() throws {
        let table = try run("fields", "--only", file)
        let names = table.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
        #expect(names == ["itemKey", "title", "isbn", "price"], "\(table)")
        #expect(try run("-e", "items:createItem{ title = 'Dune', isbn = '1', price = 9 }").contains("Dune"))
        #expect(try run("-e", "print(items[1], items[1].name, items[1].price)") == "Dune\tnil\t9.0\n")
        let denied = try program("-e", "items:createItem{ title = 'Emma', isbn = '1' }")
        #expect(denied.stderr.contains("isbn is unique, and \"1\" is that of \"Dune\" already"), "\(denied.stderr)")
        // A household's names are as free as others.
        #expect(try run("-e", "items[1].valueInDollars = 'much' print(items[1].valueInDollars)") == "much\n")
        #expect(try run("-e", "items[1].valueInDollars = nil print(#items[1]:fields())") == "3\n")
        let exported = try run("export", "-", "--format", "csv")
        #expect(
            exported.hasPrefix("itemKey,title,isbn,price\r\n") && exported.hasSuffix(",Dune,1,9.00\r\n"), "\(exported)")
        let help = try run("-e", "help('Item')")
        #expect(help.contains(".isbn  string\n      as printed: a string, unique.") && !help.contains("serialNumber"))
        #expect(try !run("report", "-").contains("valueInDollars"))
        #expect(try run("check", program.container).contains("nothing is wrong"))
    }

    @Test("they are kept in the archive and the journal; a copy of the container has them, too")
    func kept() throws {
        _ = try run("fields", "--only", file)
        for number in 1...3 {
            _ = try run("-e", "items:createItem{ title = 'Book \(number)', isbn = '\(number)' } items:saveChanges()")
        }
        _ = try run("-e", "items[2].price = 2")
        #expect(try run("-e", "print(#items, items[2].price, items[3].title)") == "3\t2.0\tBook 3\n")
        #expect(try run("fields", "--only", file).contains("isbn"))
        let format = try String(contentsOfFile: program.container + "/Library/format", encoding: .utf8)
        #expect(format == "2\n")
    }

    @Test("a file that declares nothing leaves the container as it was")
    func takenBack() throws {
        try program.scratch.write("return { { name = 'title', kind = 'strong' } }", to: "wrong.lua")
        for name in ["missing.lua", "wrong.lua"] {
            let output = try program("fields", "--only", program.scratch.file(name))
            #expect(output.status != .exited(0) && !output.stderr.isEmpty, "\(output)")
            #expect(!FileManager.default.fileExists(atPath: program.container + "/Library/format"))
            #expect(try run("fields").contains("valueInDollars"))
        }
        #expect(try run("fields", "--only", file).contains("isbn"))
        // One that is made so stays, whatever a later file has.
        #expect(try program("fields", "--only", program.scratch.file("missing.lua")).status != .exited(0))
        #expect(try run("fields").contains("isbn"))
        try program.scratch.write("return {}", to: "none.lua")
        #expect(
            try !program(
                "fields", "--container", program.scratch.file("bare"), "--only", program.scratch.file("none.lua")
            )
            .stdout.contains("valueInDollars"))
    }

    @Test("a container with items of a household and one in memory are refused")
    func refused() throws {
        #expect(try program("fields", "--only").status == .exited(64))
        _ = try run("-e", "items:createItem{ name = 'Lamp' }")
        let denied = try program("fields", "--only", file)
        #expect(denied.status == .exited(64))
        #expect(denied.stderr.contains("with the fields of a household"), "\(denied.stderr)")
        #expect(try run("-e", "print(items[1].name)") == "Lamp\n")
        #expect(try program("fields", "--container", ":memory:", "--only", file).status == .exited(64))
    }
}
