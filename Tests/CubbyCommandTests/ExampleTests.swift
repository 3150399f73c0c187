import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The scripts of examples/, as a reader of the README runs them.
@Suite("Examples")
struct ExampleTests {
    let program: Program

    init() throws { program = try Program() }

    private func example(_ name: String, folder: String? = nil) throws -> ProcessOutput {
        let path = "\(Project.root)/examples/\(name)"
        guard let folder else { return try program("run", path) }
        return try program("run", path, folder)
    }

    @Test("household.lua creates, asks, rolls back, exports, and leaves the container as it was")
    func household() throws {
        for _ in 1...2 {
            let output = try example("household.lua", folder: "\(Project.root)/examples/data")
            #expect(output.status == .exited(0), "\(output.stderr)")
            let lines = output.stdout.split(separator: "\n").map(String.init)
            #expect(lines.first?.hasSuffix(" things at home") == true)
            #expect(lines.contains("6 pictures"))
            #expect(lines.contains("Reading Lamp\tgift\ttrue"))
            #expect(lines.contains("rolled back:\ttrue\t45"))
            let count = try #require(lines.first?.split(separator: " ").first.flatMap { Int($0) })
            #expect(lines.contains("exported \(count + 2) rows"))
            #expect(lines.last == "removed\t\(count + 2)")
            #expect(try program.itemCount() == "0")
        }
    }

    @Test("save-hooks.lua backs up when the host saves, and refuses a change")
    func saveHooks() throws {
        let output = try example("save-hooks.lua")
        #expect(output.status == .exited(0), "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines.first?.contains("a value is never negative") == true)
        #expect(lines.dropFirst().prefix(3) == ["still worth\t78", "background\t1", "active"])
        #expect(lines.contains("didEnterBackground\t1\t0"))
        #expect(lines.contains("didSave\t1\t0"))
        #expect(output.stderr.contains("Saved all of the Items"))
        #expect(output.stderr.contains("saved 1 items, and a backup of 1"))
        #expect(!FileManager.default.fileExists(atPath: "\(program.container)/Documents/Backups by hook"))
    }

    @Test(
        "an example leaves what a container holds as it is",
        arguments: [
            ("household.lua", nil), ("save-hooks.lua", nil), ("foo-bar.lua", "a file of your own"), ("seed.lua", nil),
            ("museum.lua", nil),
        ] as [(String, String?)])
    func harmless(name: String, refusal: String?) throws {
        let made = try program(
            "-e",
            """
            local lamp = items:createItem{ name = "Reading Lamp", valueInDollars = 7, room = "Study", date_acquired = "" }
            items:createItem{ name = "Fluffy Bear", valueInDollars = 78, department = "Toys" }
            lamp.image = image.open((...) .. "/pictures/lamp.png")
            local documents = app.container.documents
            assert(fs.makeDirectory(documents .. "/Backups by hook"))
            for _, name in ipairs{ "inventory.csv", "foo.archive", "foo2.archive", "Backups by hook/old.json" } do
              assert(fs.write(documents .. "/" .. name, archiver.archivedData{ "mine" }))
            end
            """, "\(Project.root)/examples/data")
        #expect(made.status == .exited(0), "\(made.stderr)")
        let before = try contents()
        for _ in 1...2 {
            let output = try example(name, folder: "\(Project.root)/examples/data")
            #expect(output.status == .exited(refusal == nil ? 0 : 1), "\(output.stderr)")
            if let refusal { #expect(output.stderr.contains(refusal)) }
            #expect(try contents() == before)
        }
    }

    /// What a person has in the container: the items, the pictures, and the other files.
    private func contents() throws -> String {
        let output = try program(
            "--read-only", "--no-init", "-e",
            """
            for _, item in items:each() do print(item, item.room, item.department, item.image and item.image.width) end
            local documents = app.container.documents
            for _, folder in ipairs{ "", "/Backups by hook" } do
              for _, name in ipairs(fs.list(documents .. folder)) do
                local path = documents .. folder .. "/" .. name
                local bytes = not name:find("^items%.") and not name:find("%d%.json$") and fs.read(path)
                if bytes then print(folder, name, data(bytes):base64()) end
              end
            end
            """)
        #expect(output.status == .exited(0), "\(output.stderr)")
        return output.stdout
    }

    @Test("seed.lua fills an empty store from the bundle on the first run, and on no other")
    func seed() throws {
        let script = "\(Project.root)/examples/seed.lua"
        let first = try program("--bundle", "\(Project.root)/examples/data", "run", script)
        #expect(first.stdout.hasPrefix("seeded "), "\(first.stderr)")
        let count = try program.itemCount()
        #expect(first.stdout == "seeded \(count) items\n")
        #expect(try program("run", script).stdout == "\(count) items are here already\n")
    }

    @Test("museum.lua takes any CSV with its columns, and says what it wants without one")
    func museum() throws {
        let csv = try program.scratch.write(
            "title,accession_number,date_acquired,department\r\n\"Old, \"\"Trees\"\"\",06.16.2,1906-10-17,Fine Arts\r\nÉtude,1,,Photography\r\n",
            to: "small.csv")
        let script = "\(Project.root)/examples/museum.lua"
        let imported = try program("run", script, csv)
        #expect(imported.status == .exited(0), "\(imported.stderr)")
        #expect(imported.stdout.contains("2 items, 0 pictures"))
        #expect(imported.stdout.contains("1906-10-17  Old, \"Trees\""))
        #expect(imported.stderr.contains("going away with 2 items"))
        let usage = try program("run", script)
        #expect(usage.status == .exited(1))
        #expect(usage.stderr.contains("usage: cubby run examples/museum.lua CSV [IMAGES]"))
    }
}
