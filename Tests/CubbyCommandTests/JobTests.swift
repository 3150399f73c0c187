import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The scripts of examples/jobs/, which docs/automation.md describes, as a schedule would run them: twice at least.
@Suite("Jobs")
struct JobTests {
    let program: Program

    init() throws { program = try Program() }

    private func job(_ name: String, _ arguments: String..., options: [String] = []) throws -> ProcessOutput {
        try program(options + ["run", "\(Project.root)/examples/jobs/\(name).lua"] + arguments)
    }

    @Test("a job reads its own script's folder, by any function, and nothing above it; it does not write there")
    func ownFolder() throws {
        let scratch = program.scratch
        try scratch.write("name\nLamp\n", to: "jobs/data/items.csv")
        try scratch.write("secret", to: "secret.txt")
        let script = try scratch.write(
            """
            local folder = arg[0]:match("^(.*)/") or "."
            print(csv.rows(folder .. "/data/items.csv")().name, #fs.list(folder), io.open(folder .. "/job.lua") ~= nil)
            print((fs.read(folder .. "/../secret.txt")), (fs.write(folder .. "/new", "text")))
            """, to: "jobs/job.lua")
        for arguments in [["run", script], [script], ["run", "job.lua"]] {
            let output = try program(arguments, directory: scratch.file("jobs"))
            #expect(output.status == .exited(0), "\(output.stderr)")
            #expect(output.stdout == "Lamp\t2\ttrue\nnil\tnil\n")
        }
        #expect(scratch.names("jobs") == ["data", "job.lua"])
    }

    @Test("each job has tests beside it, which cubby test runs")
    func tests() throws {
        let output = try program("test", "\(Project.root)/examples/jobs")
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
        let folder = "\(Project.root)/examples/jobs/"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lua") }
        for name in names where !name.hasSuffix("_test.lua") {
            let tests = "\(folder)\(name.dropLast(4))_test.lua"
            #expect(output.stdout.contains(tests + "\n"), "\(name) has no tests")
        }
    }

    @Test("an import each night: again, with changes, and with rows that are none")
    func nightlyImport() throws {
        func night(_ rows: String) throws -> ProcessOutput {
            let path = try program.scratch.write("number,title,year\n\(rows)", to: "objects.csv")
            return try job("nightly-import", path, "number", "title")
        }
        #expect(try night("1,Bowl,1883\n2,Vase,\n").stdout == "2 created, 0 updated, 0 unchanged, 0 rejected\n")
        #expect(try night("1,Bowl,1883\n2,Vase,\n").stdout == "0 created, 0 updated, 2 unchanged, 0 rejected\n")
        let third = try night("1,Bowl,1884\n2,Vase,\n2,Urn,\n3,Jug,1900\n")
        #expect(third.status == .exited(2), "\(third.stderr)")
        #expect(third.stdout == "1 created, 1 updated, 1 unchanged, 1 rejected\n")
        #expect(third.stderr.contains("rejected.csv"))
        let rejected = try String(contentsOfFile: "\(program.container)/Documents/rejected.csv", encoding: .utf8)
        #expect(rejected.contains("2,Urn,"))
        #expect(try program("-e", "print(#items, items:query('year == 1884'):first().name)").stdout == "3\tBowl\n")
        #expect(try job("nightly-import", "\(program.container)/none.csv", "number").status == .exited(1))
    }

    @Test("a timeline has the dates of all archives in their order, at paths that lead to them")
    func timeline() throws {
        let folder = "\(Project.root)/Tests/Fixtures/archives"
        let output = try job("timeline", folder)
        #expect(output.status == .exited(0), "\(output.stderr)")
        let rows = try Self.cells(output.stdout).dropFirst()
        #expect(rows.count > 2)
        #expect(rows.map { $0[0] } == rows.map { $0[0] }.sorted())
        for row in rows {
            let found = try program("inspect", row[1], "--path", row[2])
            #expect(found.status == .exited(0), "\(row): \(found.stderr)")
            #expect(found.stdout.contains(row[0].prefix(10)), "\(row): \(found.stdout)")
        }
        // What is no archive is told, and the others go on.
        #expect(output.stderr.contains("index.tsv"))
    }

    /// The cells of a text of CSV, as Python reads them.
    private static func cells(_ csv: String) throws -> [[String]] {
        let output = try TestSupport.run(
            "python3", ["-c", "import csv, json, sys; print(json.dumps(list(csv.reader(sys.stdin))))"], input: csv)
        return try JSONDecoder().decode([[String]].self, from: Data(output.stdout.utf8))
    }

    @Test("photographs come with what the camera wrote, and once")
    func photographs() throws {
        let jpeg = try Data(contentsOf: URL(fileURLWithPath: "\(Project.root)/examples/data/pictures/teapot.jpg"))
        let taken = try program.scratch.write(
            Self.withCamera("Brownie", "2009:07:20 20:17:40", in: [UInt8](jpeg)), to: "camera/2009/teapot.jpg")
        try program.scratch.write("no picture", to: "camera/notes.txt")
        let folder = program.scratch.file("camera")
        #expect(try job("photographs", folder).stdout == "1 new, 0 known, 1 other files\n")
        try FileManager.default.copyItem(atPath: taken, toPath: program.scratch.file("camera/copy.jpg"))
        #expect(try job("photographs", folder).stdout == "0 new, 2 known, 1 other files\n")
        let shown = try program(
            "-e",
            "local i = items[1] print(#items, i.camera, i.dateCreated:format('%Y-%m-%d %H:%M', 'local'), i.image.width > 0)"
        )
        #expect(shown.stdout == "1\tBrownie\t2009-07-20 20:17\ttrue\n", "\(shown.stderr)")
    }

    /// A JPEG file with a segment of EXIF: the camera's name and when the picture was taken.
    private static func withCamera(_ model: String, _ taken: String, in jpeg: [UInt8]) -> [UInt8] {
        func two(_ number: Int) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8)] }
        func four(_ number: Int) -> [UInt8] { two(number & 0xffff) + two(number >> 16) }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            two(tag) + two(type) + four(count) + four(value)
        }
        let texts = [model, taken].map { Array($0.utf8) + [0] }
        // Two directories of one entry each behind the header of 8 bytes; the first has a second entry that names the other.
        let second = 8 + 2 + 2 * 12 + 4
        let data = second + 2 + 12 + 4
        let tiff =
            Array("II".utf8) + two(42) + four(8)
            + two(2) + entry(0x0110, 2, texts[0].count, data) + entry(0x8769, 4, 1, second) + four(0)
            + two(1) + entry(0x9003, 2, texts[1].count, data + texts[0].count) + four(0)
            + texts[0] + texts[1]
        let segment = Array("Exif\0\0".utf8) + tiff
        let length = segment.count + 2
        return jpeg.prefix(2) + [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 0xff)] + segment + jpeg.dropFirst(2)
    }

    @Test("an old application's objects become tables that other programs read")
    func oldApplication() throws {
        let archive = program.scratch.file("old.archive")
        let made = try program(
            "--allow-write", program.scratch.path, "-e",
            """
            local Client, Invoice = archiver.class("Client"), archiver.class("Billing.Invoice")
            function Client:encode(coder) coder:encodeObject(self.name, "name") end
            function Invoice:encode(coder)
              coder:encodeObject(self.client, "client") coder:encodeInteger(self.number, "number")
              coder:encodeObject(date("2001-02-03"), "due")
            end
            local bear = Client{ name = "Bear, Ltd." }
            assert(archiver.archiveRootObject({ Invoice{ client = bear, number = 7 }, Invoice{ client = bear, number = 8 } }, ...))
            """, archive)
        #expect(made.status == .exited(0), "\(made.stderr)")
        let classes = try job("old-application", archive, options: ["--container", ":memory:"])
        #expect(classes.stdout == "2\tBilling.Invoice\n1\tClient\n1\tNSArray\n", "\(classes.stderr)")
        let out = program.scratch.file("out")
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        for _ in 1...2 {
            let output = try job(
                "old-application", archive, "Billing.Invoice", out,
                options: ["--container", ":memory:", "--allow-write", out])
            #expect(
                output.stdout == "2 rows in Billing.Invoice.csv\n2 rows in Billing.Invoice.sqlite\n", "\(output.stderr)"
            )
        }
        let csv = try String(contentsOfFile: "\(out)/Billing.Invoice.csv", encoding: .utf8)
        #expect(
            csv.split(whereSeparator: \.isNewline).map(String.init) == [
                "client,due,number", "\"Bear, Ltd.\",2001-02-03T00:00:00Z,7", "\"Bear, Ltd.\",2001-02-03T00:00:00Z,8",
            ])
        let rows = try run(
            "python3",
            [
                "-c",
                "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select client, number from items').fetchall())",
                "\(out)/Billing.Invoice.sqlite",
            ])
        #expect(rows.stdout == "[('Bear, Ltd.', 7), ('Bear, Ltd.', 8)]\n", "\(rows.stderr)")
        let absent = try job("old-application", archive, "Invoice", out, options: ["--container", ":memory:"])
        #expect(absent.status == .exited(1) && absent.stderr.contains("no object of the class Invoice"))
    }

    @Test("a backup on the way to the background: seven stay, and each can be restored")
    func backup() throws {
        let folder = program.scratch.file("backups")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try program("-e", "items:createItem{ name = 'Bear' }")
        for _ in 1...9 {
            let output = try job("backup", folder, options: ["--allow-write", folder])
            #expect(output.status == .exited(0), "\(output.stderr)")
        }
        let backups = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(backups.count == 7)
        let restored = program.scratch.file("restored")
        #expect(try program("--container", restored, "restore", "\(folder)/\(backups[0])").status == .exited(0))
        #expect(try program("--container", restored, "-e", "print(items[1].name)").stdout == "Bear\n")
        // A folder that is not granted: the job fails, and says so.
        #expect(try job("backup", folder).status == .exited(1))
    }

    @Test("an inbox takes what comes, puts aside what it cannot read, and ends in order")
    func inbox() throws {
        let folder = program.scratch.file("inbox")
        try program.scratch.write("id,name\n1,Bear\n", to: "inbox/early.csv")
        let service = try program.terminal(
            "--allow-write", folder, "run", "\(Project.root)/examples/jobs/inbox.lua", folder, "id")
        try service.expect("early.csv: 1 created")
        try program.scratch.write("{\"id\": \"2\"", to: "inbox/bad.json")
        try service.expect("bad.json")
        try program.scratch.write("id,name\n3,", to: "inbox/.late.csv")
        try program.scratch.write("id,name\n3,Lamp\n", to: "inbox/.late.csv")
        rename("\(folder)/.late.csv", "\(folder)/late.csv")
        try service.expect("late.csv: 1 created")
        service.terminate()
        #expect(try service.waitForExit() == .exited(0))
        let files = FileManager.default
        #expect(try files.contentsOfDirectory(atPath: "\(folder)/done").sorted() == ["early.csv", "late.csv"])
        #expect(try files.contentsOfDirectory(atPath: "\(folder)/failed").sorted() == ["bad.json", "bad.json.txt"])
        #expect(try program("-e", "print(#items)").stdout == "2\n")
    }
}
