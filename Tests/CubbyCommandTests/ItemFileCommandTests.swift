import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby import` and `cubby export`: files by way of the command line, and pipes.
@Suite("Items in files, by commands")
struct ItemFileCommandTests {
    let program: Program

    init() throws { program = try Program() }

    private let csv = "id,Title,width,notes\n1,Lamp,5.875,x\n2,Bear,13.0,y\n"

    private func count() throws -> String { try program("-e", "print(#items, items:query():sum(\"width\"))").stdout }

    @Test("a file is imported, again without a change, and what it says that is new")
    func importing() throws {
        let path = try program.scratch.write(csv, to: "a.csv")
        let words = ["import", path, "--key", "id", "--map", "Title=name", "--map", "notes="]
        #expect(try program(words).stdout == "2 created, 0 updated, 0 unchanged, 0 rejected\n")
        #expect(try program(words).stdout == "0 created, 0 updated, 2 unchanged, 0 rejected\n")
        #expect(try count() == "2\t18.875\n")
        _ = try program.scratch.write(csv.replacingOccurrences(of: "13.0", with: "14.0"), to: "a.csv")
        #expect(try program(words + ["--no-update"]).stdout == "0 created, 0 updated, 2 unchanged, 0 rejected\n")
        #expect(try program(words + ["--dry-run"]).stdout == "0 created, 1 updated, 1 unchanged, 0 rejected\n")
        #expect(try count() == "2\t18.875\n")
        #expect(try program(words).stdout == "0 created, 1 updated, 1 unchanged, 0 rejected\n")
        #expect(try program("-e", "print(items[1].notes)").stdout == "nil\n")
    }

    @Test("many items of the archive are compared with a newer file, in all of their fields")
    func manyUpdates() throws {
        func grouped(_ count: Int) -> String {
            count < 1_000 ? "\(count)" : "\(count / 1_000),\(String(count % 1_000 + 1_000).dropFirst())"
        }
        func file(isNewer: Bool) -> String {
            var text = "id,name,n,note,day\n"
            for row in 0..<1_500 {
                let n = isNewer && row % 7 == 0 ? "\(row).25" : "\(row).5"
                let note = isNewer && row % 11 == 0 ? "" : "note \(row % 5 == 0 ? row : row % 3)"
                let name = isNewer && row % 13 == 0 ? "Thing \(row)" : "thing \(row)"
                text += "K\(row),\(name),\(n),\(note),2024-01-\(row % 28 < 9 ? "0" : "")\(row % 28 + 1)\n"
            }
            return text
        }
        let words = ["import", try program.scratch.write(file(isNewer: false), to: "many.csv"), "--key", "id"]
        #expect(try program(words).stdout == "1,500 created, 0 updated, 0 unchanged, 0 rejected\n")
        #expect(try program(words).stdout == "0 created, 0 updated, 1,500 unchanged, 0 rejected\n")
        _ = try program.scratch.write(file(isNewer: true), to: "many.csv")
        let changed = (0..<1_500).filter { $0 % 7 == 0 || $0 % 11 == 0 || $0 % 13 == 0 }.count
        #expect(
            try program(words).stdout
                == "0 created, \(changed) updated, \(grouped(1_500 - changed)) unchanged, 0 rejected\n")
        #expect(try program(words).stdout == "0 created, 0 updated, 1,500 unchanged, 0 rejected\n")
        let script =
            "print(items:query(\"note == nil\"):count(), items:query(\"name BEGINSWITH 'T'\"):count(), items[8].n, items[9].note)"
        #expect(try program("-e", script).stdout == "137\t116\t7.25\tnote 2\n")
    }

    @Test("a file that is no good changes nothing, and the error names the row")
    func badFile() throws {
        let path = try program.scratch.write("name,valueInDollars\nA,1\nB,two\n", to: "a.csv")
        let output = try program("import", path)
        #expect(output.status == .exited(65))
        #expect(
            output.stderr.contains(
                "a.csv, row 3: valueInDollars takes an integer: \"two\" is not one; --on-error skip leaves"))
        #expect(!output.stderr.contains("traceback"))
        #expect(try program.itemCount() == "0")
        let rejects = program.scratch.file("rejects.csv")
        #expect(
            try program("import", path, "--rejects", rejects).stdout
                == "1 created, 0 updated, 0 unchanged, 1 rejected\n")
        #expect(try String(contentsOfFile: rejects, encoding: .utf8).hasPrefix("name,valueInDollars,error\r\nB,two,"))
        #expect(try program("import", program.scratch.file("none.csv")).status == .exited(74))
        #expect(try program("import", path, "--key", "nmae").status == .exited(65))
        #expect(try program("import", "--map", "name", path).status == .exited(64))
        let json = try program.scratch.write("[]", to: "a.json")
        for (words, option) in [(["--delimiter", ";"], "delimiter"), (["--no-header"], "no-header")] {
            let foreign = try program(["import", json] + words)
            #expect(foreign.status == .exited(64))
            #expect(foreign.stderr.hasPrefix("cubby: --\(option) is for csv"), "\(foreign.stderr)")
        }
    }

    @Test("items go out to a pipe and to files, all or those of a predicate")
    func exporting() throws {
        let path = try program.scratch.write(csv, to: "a.csv")
        _ = try program("import", path, "--map", "Title=name")
        let lines = "{\"name\":\"Lamp\",\"width\":5.875}\n{\"name\":\"Bear\",\"width\":13.0}\n"
        #expect(try program("export", "--format", "jsonl", "--columns", "name,width").stdout == lines)
        #expect(
            try program("export", "width > 10", "--format", "tsv", "--columns", "name").stdout == "name\r\nBear\r\n")
        let file = program.scratch.file("out.json")
        #expect(try program("export", "width > 10", file).stdout == "")
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"name\" : \"Bear\""))
        #expect(try program("export", program.scratch.file("out.archive")).status == .exited(0))
        #expect(try program("export").status == .exited(64))
        #expect(
            try program("--no-init", "export", "--format", "jsonl", "--columns", "name,width").stdout == lines)
        #expect(try program("export", "width >", "--format", "csv").status == .exited(64))
        let script = "items:query():export('/dev/stdout', { format = 'jsonl', columns = { 'name', 'width' } })"
        #expect(try program("-e", script).stdout == lines)
    }

    @Test("standard input is imported, too")
    func standardInput() throws {
        let output = try program("import", "-", "--format", "csv", input: "name,n\nA,1\n")
        #expect(output.stdout == "1 created, 0 updated, 0 unchanged, 0 rejected\n", "\(output.stderr)")
        let named = try program("import", "/dev/stdin", "--format", "csv", input: "name,n\nB,1\n")
        #expect(named.stdout == output.stdout, "\(named.stderr)")
    }

    @Test("a statement without an end ends with the script's time")
    func endlessStatement() throws {
        let script = """
            local db = sqlite.open(app.container.tmp .. "/a.sqlite")
            pcall(db.execute, db, "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n")
            print("went on")
            """
        let output = try program("--time-limit", "0.5", "-e", script)
        #expect(output.status == .exited(1), "\(output.stderr)")
        #expect(output.stdout == "")
    }

    @Test("an archive brings the pictures beside it")
    func pictures() throws {
        let made = try program(
            "--allow-read", "\(Project.root)/examples/data", "-e",
            "items:createItem{ itemKey = 'k1' }.image = image.open('\(Project.root)/examples/data/pictures/teapot.jpg')"
        )
        #expect(made.status == .exited(0), "\(made.stderr)")
        let other = try Program()
        let output = try other("import", program.container + "/Documents/items.archive")
        #expect(output.stdout == "1 created, 0 updated, 0 unchanged, 0 rejected, 1 picture\n", "\(output.stderr)")
        #expect(try other("-e", "print(items[1].image ~= nil)").stdout == "true\n")
    }

    @Test("columns without names and with equal ones are said, a line each, and options have their names in errors")
    func foreignColumns() throws {
        let path = try program.scratch.write("name,,a,a,\nX,secret,1,2,\n", to: "a.csv")
        #expect(
            try program("import", path).stdout == """
                1 created, 0 updated, 0 unchanged, 0 rejected
                column 5 has neither a name nor a cell: left out
                column 2 has no name: read as column2
                column 4 has the name of an earlier one: read as a_2

                """)
        _ = try program.scratch.write("name;price\nLamp;12\n", to: "a.csv")
        let refused = try program("import", path, "--delimiter", ",")
        #expect(refused.status == .exited(65))
        #expect(refused.stderr.contains("give --delimiter ';', or"), "\(refused.stderr)")
        #expect(try program("import", path).stdout.hasPrefix("1 created"))
        let packed = try program("import", try program.scratch.write("", to: "a.csv.xz"))
        #expect(packed.status == .exited(65))
        #expect(packed.stderr.contains("unxz"))
    }

    @Test("files as they come, with options of the same names, which messages name") func shapes() throws {
        let path = try program.scratch.write(
            "Export of May\nItem,Value,Bought,Paid\n# note\nDesk,\"$1,622.00\",03/04/2021,ja\nLamp,n/a,05/06/2021,nein\n",
            to: "a.txt")
        let words = ["import", path, "--map", "Item=name", "--comment", "#"]
        let first = try program(words + ["--dry-run"])
        #expect(first.status == .exited(0), "\(first.stderr)")
        #expect(first.stdout.contains("give --null n/a"), "\(first.stdout)")
        #expect(first.stdout.contains("give --date dd/MM/yyyy or the other one"), "\(first.stdout)")
        let second = try program(
            words + [
                "--null", "n/a", "--date", "dd/MM/yyyy", "--types", "Paid=boolean", "--skip", "1", "--key", "name",
            ])
        #expect(second.stdout == "2 created, 0 updated, 0 unchanged, 0 rejected\n", "\(second.stdout)\(second.stderr)")
        #expect(second.stderr.contains("Value real (thousands by commas, without $, 2 decimals)"), "\(second.stderr)")
        #expect(
            try program("-e", "local i = items[#items - 1] print(i.name, i.Value, i.Bought, i.Paid)").stdout
                == "Desk\t1622.0\t2021-04-03\ttrue\n")
        let bare = try program.scratch.write("Rug,5\nMat,6\n", to: "b.csv")
        #expect(try program("import", bare, "--header", "name,n").stdout.hasPrefix("2 created"))
        #expect(try program("import", bare, "--no-header", "--map", "column1=name").stdout.hasPrefix("2 created"))
        for wrong in [
            ["--types", "Paid=money"], ["--types", "x=date(QQQ)"], ["--decimal", "dot"], ["--delimiter", "ab"],
            ["--header", "a", "--no-header"], ["--date", "QQQ"], ["--format", "doc"],
        ] {
            let output = try program(["import", bare] + wrong)
            #expect(output.status == .exited(64), "\(wrong)")
            #expect(output.stderr.contains(wrong[0]), "\(output.stderr)")
        }
    }

    @Test("a pipe without an extension is read by what it begins with") func pipes() throws {
        #expect(try program("import", "-", input: "{\"name\":\"A\"}{\"name\":\"B\"}").stdout.hasPrefix("2 created"))
        #expect(try program("import", "-", input: "name;n\nA;1\n").stdout.hasPrefix("1 created"))
        let pipe = program.scratch.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let writer = Thread { try? "name,n\nLamp,1\n".write(toFile: pipe, atomically: false, encoding: .utf8) }
        writer.start()
        let output = try program("import", pipe)
        #expect(output.stdout.hasPrefix("1 created"), "\(output.stderr)")
    }

    @Test("an export for a spreadsheet follows the locale, and options are of the format")
    func exportOptions() throws {
        let made = try program(
            "-e",
            """
            items:createItem{ itemKey = "k", name = "0042", price = 12.5, n = 0/0, dims = { w = 2 },
              dateCreated = date("2024-01-31") }
            """)
        #expect(made.status == .exited(0), "\(made.stderr)")
        let words = ["export", "--for", "excel", "--columns", "name,price,dims.w,dateCreated", "--map", "dims.w=width"]
        let german = try program(words, environment: ["LC_ALL": "de_DE.UTF-8"])
        #expect(
            german.stdout
                == "\u{FEFF}name;price;width;dateCreated\r\n\"=\"\"0042\"\"\";12,5;2;2024-01-31\r\n", "\(german.stderr)"
        )
        #expect(german.stderr.contains("1 item exported"))
        let other = try program(words + ["--delimiter", ","], environment: ["LC_ALL": "de_DE.UTF-8"])
        #expect(other.stdout.contains(",12.5,2,"))
        let refused = try program("export", "--format", "jsonl", "--columns", "n")
        #expect(refused.status == .exited(1))
        #expect(refused.stderr.contains("item '0042', itemKey k, field n: ") && refused.stderr.contains("--nan null"))
        #expect(
            try program("export", "--format", "jsonl", "--columns", "n", "--nan", "null").stdout == "{\"n\":null}\n")
        for wrong in [["--for", "word"], ["--nan", "0"], ["--map", "name"]] {
            #expect(try program(["export", "--format", "csv"] + wrong).status == .exited(64))
        }
        for wrong in [["--for", "excel"], ["--table", "t"], ["--delimiter", ";"]] {
            #expect(try program(["export", "--format", "jsonl"] + wrong).stderr.contains("the format is jsonl"))
        }
    }

    @Test("a table goes into a database that is there, beside its other tables")
    func table() throws {
        let file = program.scratch.file("shop.sqlite")
        let setUp = try program(
            "--allow-write", program.scratch.path, "-e",
            """
            local db = assert(sqlite.open(...))
            db:execute("create table mine(x)")
            db:execute("insert into mine values(1)")
            db:close()
            items:createItem{ name = "Lamp" }
            """, file)
        #expect(setUp.status == .exited(0), "\(setUp.stderr)")
        let tables = [
            "-e",
            """
            for row in sqlite.open(..., { readOnly = true }):rows("select name from sqlite_master order by 1") do
              io.write(row.name, " ")
            end
            """, file,
        ]
        let first = try program("export", file, "--table", "things", "--columns", "name")
        #expect(first.stderr.contains("1 item exported"))
        #expect(try program(tables).stdout == "mine things ")
        #expect(try program("export", file, "--table", "things").stderr.contains("with 1 row: replaced"))
        #expect(try program(tables).stdout == "mine things ")
        // Without a table's name the file is the items' alone.
        #expect(try program("export", file).status == .exited(0))
        #expect(try program(tables).stdout == "items ")
    }

    @Test("pictures of a folder come with a file's rows, or alone to the items that are there")
    func picturesOfFolder() throws {
        let source = "\(Project.root)/examples/data/pictures/teapot.jpg"
        try FileManager.default.createDirectory(
            atPath: program.scratch.file("photos"), withIntermediateDirectories: true)
        for name in ["A1.jpg", "A1-2.JPG", "stray.jpg"] {
            try FileManager.default.copyItem(atPath: source, toPath: program.scratch.file("photos/" + name))
        }
        let file = try program.scratch.write("serial,name\nA1,Teapot\nB2,Chair\n", to: "a.csv")
        let pictures = ["--pictures", program.scratch.file("photos"), "--by", "serial"]
        let output = try program(["import", file, "--key", "serial"] + pictures)
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout.hasPrefix("2 created, 0 updated, 0 unchanged, 0 rejected, 2 pictures\n1 item without"))
        #expect(output.stdout.contains(", by serial: B2\n") && output.stdout.contains(", by serial: stray.jpg\n"))
        #expect(try program("-e", "print(#items[1].images, #items[2].images)").stdout == "2\t0\n")
        try FileManager.default.moveItem(
            atPath: program.scratch.file("photos/stray.jpg"), toPath: program.scratch.file("photos/B2.jpg"))
        // From the folder itself, by a relative path.
        let alone = try program(["import", "--pictures", "photos", "--by", "serial"], directory: program.scratch.path)
        #expect(
            alone.stdout.hasPrefix("0 created, 0 updated, 0 unchanged, 0 rejected, 1 picture\n1 item with pictures"))
        #expect(try program("-e", "print(#items[1].images, #items[2].images)").stdout == "2\t1\n")
        #expect(
            try program(["import", "--update"] + pictures).stdout == "0 created, 0 updated, 0 unchanged, 0 rejected\n")
        for wrong in [["import"], ["import", "--by", "serial"], ["import", file, "--pictures", "photos"]] {
            #expect(try program(wrong).status == .exited(64), "\(wrong)")
        }
    }
}
