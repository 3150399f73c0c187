import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby inspect` of databases, and the reports of what was read.
@Suite("Databases and reports")
struct DatabaseInspectionTests {
    let program: Program
    private let folder: String

    init() throws {
        program = try Program()
        folder = program.scratch.file("backup")
        let output = try run("python3", ["-c", Self.files, folder])
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    /// A database with archives in it, and a backup with its list of files.
    private static let files = """
        import os, plistlib, sqlite3, sys
        from plistlib import UID
        os.makedirs(sys.argv[1] + "/ab")
        os.chdir(sys.argv[1])
        def archive(name):
            return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                "$objects": ["$null", {"$class": UID(2), "name": UID(3)},
                    {"$classname": "Bear", "$classes": ["Bear", "NSObject"]}, name]}, fmt=plistlib.FMT_BINARY)
        base = sqlite3.connect("notes.sqlite")
        base.execute('create table notes (id integer primary key, title text, "a.b" blob)')
        base.execute("create table rowid (rowid text, _rowid_ text, oid blob)")
        base.execute("create view titles as select title from notes")
        base.execute("create virtual table words using fts5 (title)")
        base.execute("insert into notes values (1, 'Fluffy', ?)", (archive("Fluffy Bear"),))
        base.execute("insert into notes values (5, 'plain', ?)", (plistlib.dumps({"k": ["fluffy", 5]}),))
        base.execute("insert into notes values (6, 'cut', ?)", (archive("Cut")[:-5],))
        base.execute("insert into rowid values ('a', 'b', ?)", (archive("Third"),))
        base.commit()
        base = sqlite3.connect("Manifest.db")
        base.execute("create table Files (fileID text primary key, domain text, relativePath text, flags integer, file blob)")
        base.execute("insert into Files values ('abcd01', 'HomeDomain', 'Library/notes.sqlite', 1, ?)", (archive("File"),))
        base.execute("insert into Files values ('abcd02', 'AppDomain', 'Documents/items.archive', 1, null)")
        base.execute("insert into Files values ('abcd03', 'AppDomain', 'Documents', 2, null)")
        base.execute("insert into Files values ('../../x', 'AppDomain', 'odd', 1, null)")
        base.commit()
        open("ab/abcd01", "wb").write(b"x" * 1234)
        """

    private var notes: String { "\(folder)/notes.sqlite" }

    @Test("inspect shows tables, columns, counts, and the cells that have archives, with the command that opens them")
    func tables() throws {
        let output = try program("inspect", notes)
        let text = output.stdout
        #expect(text.hasPrefix("SQLite database, "))
        #expect(text.contains("├─ notes: 3 rows\n│  ├─ id: INTEGER\n│  ├─ title: TEXT\n"), "\(text)")
        #expect(text.contains("│  ├─ a.b: BLOB, 1 keyed archive, 1 property list, 1 unreadable\n"))
        #expect(
            text.contains("notes[\"a.b\"][1]: keyed archive, 4 objects; cubby inspect '\(notes)#notes[\"a.b\"][1]'\n"))
        #expect(text.contains("words: a virtual table") && text.contains("titles: a view"))
        #expect(output.status == .exited(65) && output.stderr.contains("notes[\"a.b\"][6]: "))
        let short = try program("inspect", "--depth", "1", notes).stdout
        #expect(short.contains("├─ notes: 3 rows\n├─ rowid: 1 row\n"), "\(short)")
        let json = try program("inspect", "--json", notes).standardOutput
        let top = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        let tables = try #require(top["tables"] as? [[String: Any]])
        let found = try #require(tables.first { $0["name"] as? String == "notes" })
        #expect(found["rows"] as? Int == 3 && (found["columns"] as? [[String: Any]])?.count == 3)
    }

    @Test(
        "a cell's archive is inspected as a file's",
        arguments: [
            ("notes[\"a.b\"][1]", [], "keyed archive, binary, 4 objects\nroot: Bear\n└─ name: \"Fluffy Bear\"\n"),
            ("NOTES[\"A.B\"][1]", ["--path", "root.name"], "\"Fluffy Bear\"\n"),
            ("notes[\"a.b\"][1].$embedded.root.name", [], "\"Fluffy Bear\"\n"),
            ("notes[\"a.b\"][5]", ["--path", "k[0]"], "\"fluffy\"\n"),
            ("rowid.oid[row 1].root.name", [], "\"Third\"\n"),
            // As a search and a timeline name a text and a number.
            ("notes.title[1]", [], "\"Fluffy\"\n"), ("notes.id[5]", [], "5\n"),
            ("notes.title[1]", ["--json"], "\"Fluffy\"\n"),
        ])
    func cells(cell: String, words: [String], text: String) throws {
        let output = try program(["inspect", "\(notes)#\(cell)"] + words)
        #expect(output.stdout == text && output.status == .exited(0), "\(output.stderr)")
        guard words.isEmpty, cell.hasPrefix("notes") else { return }
        #expect(try program("inspect", notes, "--path", cell).stdout == text)
    }

    @Test(
        "a cell that is not there is an error with what is there",
        arguments: [
            ("note.title[1]", "no table 'note'", Int32(1)), ("notes.titel[1]", "no column 'titel'", 1),
            ("notes.title[9]", "no such row", 1), ("notes.title[1].x", "no archive and no property list", 65),
            ("notes.title", "table.column[rowid]", 64), ("titles.title[1]", "a view", 1),
            ("notes[\"a.b\"][6]", "at byte", 65),
        ])
    func absentCells(cell: String, text: String, status: Int32) throws {
        let output = try program("inspect", "\(notes)#\(cell)")
        #expect(output.stderr.contains(text) && output.status == .exited(status), "\(output.stderr)")
    }

    @Test("check of a database is SQLite's own, and that of the archives in it; two databases are not compared")
    func check() throws {
        let output = try program("check", notes)
        #expect(
            output.status == .exited(65) && output.stdout.contains("error: notes[\"a.b\"][6]: "),
            "\(output.stdout)")
        let healthy = try program("check", "\(folder)/Manifest.db")
        #expect(
            healthy.status == .exited(0) && healthy.stdout.hasSuffix("3 files, nothing wrong\n"), "\(healthy.stdout)")
        #expect(try program("inspect", notes, "\(folder)/Manifest.db").status == .exited(64))
        let cells = try program("inspect", "\(notes)#notes[\"a.b\"][1]", "\(notes)#rowid.oid[row 1]")
        #expect(
            cells.stdout == "~ root.name: \"Fluffy Bear\" → \"Third\"\n" && cells.status == .exited(1),
            "\(cells.stdout)")
    }

    @Test("--find and --json-lines read databases, too")
    func survey() throws {
        let found = try program("inspect", "--find", "fluffy", notes)
        #expect(
            found.stdout == """
                \(notes): notes.title[1]: "Fluffy"
                \(notes): notes["a.b"][1].$embedded.root.name: "Fluffy Bear"
                \(notes): notes["a.b"][5].$embedded.k[0]: "fluffy"

                """, "\(found.stdout)")
        let lines = try program("inspect", "--json-lines", "--find", "bear", folder).stdout.split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("{\"file\":\"\(notes)\"") })
        let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((entry["classes"] as? [String: Int]) == ["Bear": 2])
        #expect((entry["found"] as? [[String: Any]])?.count == 3, "\(line)")
        #expect(entry["sha256"] as? String == String(try run("sha256sum", [notes]).stdout.prefix(64)))
    }

    @Test("the list of a backup has its files under their own names")
    func backup() throws {
        let text = try program("inspect", "\(folder)/Manifest.db").stdout
        #expect(
            text.hasSuffix(
                """
                └─ files of the backup: 3
                   ├─ AppDomain/Documents/items.archive: ab/abcd02, not there
                   ├─ AppDomain/odd: ../../x, not there
                   └─ HomeDomain/Library/notes.sqlite: ab/abcd01, 1,234 bytes

                """), "\(text)")
    }

    // MARK: - Reports

    @Test(
        "a report begins with the version, the options, the zone and the time, and ends with what was read and what not"
    )
    func report() throws {
        let version = try program("--version").stdout
        for words in [["inspect", "--find", "bear"], ["timeline"], ["timeline", "--format", "csv"]] {
            let output = try program(words + ["--report", folder])
            let text = words.contains("csv") ? output.stderr : output.stdout
            let start = words.contains("csv") ? text.range(of: version)?.lowerBound : text.startIndex
            let lines = text[try #require(start)...].split(separator: "\n").map(String.init)
            #expect(lines[0] + "\n" == version)
            #expect(lines[1] == "command: cubby \((words + ["--report", folder]).joined(separator: " "))")
            #expect(lines[2] == "zone: UTC" && lines[3].hasPrefix("time: 20") && lines[3].hasSuffix("Z"))
            let digest = try run("sha256sum", [notes]).stdout.prefix(64)
            #expect(lines.contains { $0.contains("\(digest)  ") && $0.hasSuffix("bytes  SQLite database  \(notes)") })
            #expect(lines.contains("  \(folder)/ab/abcd01: not a property list or a database"))
            #expect(lines.contains { $0.hasPrefix("  \(notes): notes[\"a.b\"][6]: ") }, "\(text)")
        }
    }

    @Test(
        "with JSON the first and the last line have the report",
        arguments: [["timeline", "--format", "jsonl"], ["inspect", "--json-lines"]])
    func jsonReport(words: [String]) throws {
        let lines = try program(words + ["--report", folder]).stdout.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let head = try #require(lines.first?["report"] as? [String: Any])
        let foot = try #require(lines.last?["report"] as? [String: Any])
        let version = try program("--version").stdout
        #expect(head["zone"] as? String == "UTC" && head["program"] as? String == String(version.dropLast()))
        let read = try #require(foot["read"] as? [[String: Any]])
        #expect(read.count == 2 && read.allSatisfy { Set($0.keys) == ["file", "size", "sha256", "kind"] })
        #expect((foot["passedOver"] as? [[String: String]])?.first?["reason"] == "not a property list or a database")
        #expect((foot["unread"] as? [[String: String]])?.isEmpty == false)
        #expect(lines.dropFirst().dropLast().allSatisfy { $0["report"] == nil })
    }

    @Test("a page has the report in it; inspect and check of a file have one, too")
    func otherReports() throws {
        let page = try program("timeline", "--format", "html", "--report", folder).stdout
        #expect(
            page.contains("<h2>Read: 2 files</h2>") && page.contains("<dt>program</dt>") && page.hasSuffix("</html>\n"))
        let file = program.scratch.file("x.plist")
        _ = try run("python3", ["-c", "import plistlib, sys; plistlib.dump([5], open(sys.argv[1], 'wb'))", file])
        for words in [
            ["inspect", file, "--report"], ["check", file, "--report"], ["inspect", file, "--json", "--report"],
        ] {
            let output = try program(words)
            let text = words.contains("--json") ? output.stderr : output.stdout
            #expect(text.hasPrefix(try program("--version").stdout), "\(text)")
            #expect(text.contains("\nread: 1 file\n") && text.contains("property list, XML") && text.contains(file))
            #expect(output.status == .exited(0))
        }
    }

    // MARK: - Containers

    @Test("inspect of a container shows its items' archive; check without a path checks the default container")
    func containers() throws {
        let absent = try program("check")
        #expect(absent.status == .exited(74) && absent.stderr.contains("there is no container yet"))
        #expect(try program("-e", "items:createItem{ name = 'Lamp' }; items:saveChanges()").status == .exited(0))
        let output = try program("inspect", program.container)
        #expect(
            output.stdout.contains("items: 1 item\n") && output.stdout.contains("name: \"Lamp\""), "\(output.stdout)")
        #expect(try program("inspect", program.container, "--path", "root[0].name").stdout == "\"Lamp\"\n")
        #expect(try program("inspect", program.scratch.path).status == .exited(64))
        let check = try program("check", "--report")
        #expect(check.status == .exited(0) && check.stdout.contains("nothing is wrong"))
        #expect(
            check.stdout.contains("archive of items  \(program.container)/Documents/items.archive"), "\(check.stdout)")
    }

    // MARK: - Bytes

    @Test("--bytes shows what each byte of a binary property list means, and all of them")
    func bytes() throws {
        let file = program.scratch.file("list")
        let script = """
            import plistlib, sys
            from datetime import datetime
            plistlib.dump({"n": 5, "d": b"xy", "a": ["né", 2.5, True, datetime(2001, 1, 1)]}, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
            """
        #expect(try run("python3", ["-c", script, file]).status == .exited(0))
        let output = try program("inspect", "--bytes", file)
        #expect(output.status == .exited(0))
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines[1].hasPrefix("00  62706c69 73743030"))
        #expect(lines[1].hasSuffix("header: a binary property list, version 00"))
        #expect(lines[2].contains("#0 dictionary, 3 entries: keys #1 #2 #3, values #"))
        for text in [
            "integer of 1 byte: 5", "data, 2 bytes", "UTF-16, 2 units: \"né\"", "real of 8 bytes: 2.5", "true",
            "date: 2001-01-01 00:00:00 +0000", "offset table: where each of 11 objects begins, in 1 byte each",
            "number of objects: 11", "top object: #0",
        ] {
            #expect(lines.contains { $0.hasSuffix(text) }, "\(text)\n\(output.stdout)")
        }
        // The bytes are those of the file, in order.
        let hex = lines.dropFirst().map { line in
            line.dropFirst(4).prefix(35).filter { $0.isHexDigit }
        }.joined()
        let contents = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(hex == contents.map { String(format: "%02x", $0) }.joined())
        let xml = program.scratch.file("x.plist")
        #expect(
            try run("python3", ["-c", "import plistlib, sys; plistlib.dump([5], open(sys.argv[1], 'wb'))", xml]).status
                == .exited(0))
        #expect(try program("inspect", "--bytes", xml).status == .exited(65))
    }

    @Test("--bytes of hostile files ends with what is wrong")
    func hostileBytes() throws {
        for folder in ["hostile", "archives"].compactMap(Project.sharedData) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let output = try program("inspect", "--bytes", "\(folder)/\(name)")
                #expect([.exited(0), .exited(65), .exited(74)].contains(output.status), "\(name): \(output.stderr)")
            }
        }
    }
}
