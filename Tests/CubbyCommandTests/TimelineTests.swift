import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby timeline`.
@Suite("The timeline")
struct TimelineTests {
    let program: Program
    private let folder: String

    init() throws {
        program = try Program()
        folder = program.scratch.file("evidence")
        let output = try run("python3", ["-c", Self.files, folder])
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    /// Archives in all forms, one in the data of another, property lists, databases with a write-ahead log and a hot
    /// journal, damage, and files of other kinds.
    static let files = """
        import os, plistlib, shutil, sqlite3, sys
        from datetime import datetime
        from plistlib import UID
        os.makedirs(sys.argv[1] + "/b/c")
        os.chdir(sys.argv[1])
        def archive(time, more=None, fmt=plistlib.FMT_BINARY):
            return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                "$objects": ["$null", {"$class": UID(2), "made": UID(3), "changed": UID(3), "seen": 1404307200, "data": more or 0},
                    {"$classname": "Bear", "$classes": ["Bear", "NSObject"]}, {"$class": UID(4), "NS.time": time},
                    {"$classname": "NSDate", "$classes": ["NSDate", "NSObject"]}]}, fmt=fmt)
        def write(path, data): open(path, "wb").write(data)
        inner = archive(0.25)
        write("a.archive", archive(426000000.5, inner))
        write("b/c/list.plist", plistlib.dumps({"since": datetime(2014, 7, 2, 13, 20), "a.b": [datetime(1906, 10, 17)]}))
        write("b/list", plistlib.dumps({"since": datetime(1969, 12, 31, 23, 59, 59), "inner": inner}, fmt=plistlib.FMT_BINARY))
        write("b/cut.plist", inner[:-5])
        write("photo.jpg", b"\\xff\\xd8\\xff" * 1000)
        os.symlink("a.archive", "link.archive")
        def fill(path, **options):
            base = sqlite3.connect(path, isolation_level=None)
            for name, value in options.items(): base.execute(f"pragma {name} = {value}")
            base.execute("create table notes (id integer primary key, made real, seen timestamp, data blob, text text)")
            base.execute("create table pairs (a text, b integer, data, primary key (a, b)) without rowid")
            base.execute("create view recent as select * from notes")
            base.execute("insert into notes values (-7, 1.5, 1404307200123, ?, ?)", (archive(86400), plistlib.dumps([datetime(2000, 1, 1)]).decode()))
            base.execute("insert into notes values (2, null, 5, ?, 'bplist is a format')", (b"bplist00 but no list",))
            base.execute("insert into pairs values ('x', 1, ?)", (plistlib.dumps({"k": datetime(1999, 1, 1)}, fmt=plistlib.FMT_BINARY),))
            return base
        fill("plain.db").close()
        logged = fill("logged.db", journal_mode="wal")
        logged.execute("insert into notes values (3, 2.0, null, ?, null)", (archive(777),))
        hot = fill("source.db", cache_size=1)
        hot.execute("begin")
        for number in range(100, 3000): hot.execute("insert into notes values (?, 9.5, 9, zeroblob(999), null)", (number,))
        shutil.copy("source.db", "hot.db")
        shutil.copy("source.db-journal", "hot.db-journal")
        hot.execute("rollback")
        hot.close()
        os.remove("source.db")
        sys.stdout.flush()
        os._exit(0)
        """

    /// The dates of a folder as Python's plistlib and sqlite3 read them: every date, every NS.time, those in data, and the
    /// columns that are dates. Databases are opened in a copy.
    private static let judge = """
        import collections, datetime, json, os, plistlib, shutil, sqlite3, sys, tempfile
        start = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
        unix = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        found = set()
        def add(file, date):
            found.add((file, round((date - start).total_seconds(), 3)))
        def scan(file, value, met):
            if isinstance(value, (dict, list)):
                if id(value) in met: return
                met.add(id(value))
            if isinstance(value, datetime.datetime): add(file, value.replace(tzinfo=datetime.timezone.utc))
            elif isinstance(value, bytes): data(file, value)
            elif isinstance(value, dict):
                if "$class" in value and isinstance(value.get("NS.time"), (int, float)):
                    found.add((file, round(value["NS.time"], 3)))
                for entry in value.values(): scan(file, entry, met)
            elif isinstance(value, list):
                for entry in value: scan(file, entry, met)
        def data(file, contents):
            try: value = plistlib.loads(contents)
            except Exception: return
            scan(file, value, set())
        def base(file):
            with tempfile.TemporaryDirectory() as folder:
                for end in "", "-wal", "-journal":
                    if os.path.exists(file + end): shutil.copy(file + end, folder + "/x" + end)
                base = sqlite3.connect(folder + "/x")
                for table, in base.execute("select name from sqlite_master where type = 'table'").fetchall():
                    rows = base.execute(f'select * from "{table}"')
                    names = [column[0] for column in rows.description]
                    for row in rows:
                        for name, cell in zip(names, row):
                            if isinstance(cell, bytes): data(file, cell)
                            elif isinstance(cell, str) and "<plist" in cell: data(file, cell.encode())
                            elif name == "made" and cell is not None: found.add((file, round(cell, 3)))
                            elif name == "seen" and cell is not None: add(file, unix + datetime.timedelta(milliseconds=cell))
                base.close()
        for root in sys.argv[2:]:
            for folder, _, names in os.walk(root):
                for name in names:
                    file = os.path.join(folder, name)
                    if os.path.islink(file) or not os.path.isfile(file): continue
                    contents = open(file, "rb").read()
                    if contents[:16] == b"SQLite format 3\\0": base(file)
                    elif name.endswith(("-wal", "-shm", "-journal")): pass
                    else: data(file, contents)
        ours = set()
        for line in open(sys.argv[1]):
            row = json.loads(line)
            assert list(row) == ["time", "file", "sha256", "path", "class", "epoch"], row
            ours.add((row["file"], round((datetime.datetime.fromisoformat(row["time"]) - start).total_seconds(), 3)))
        assert ours == found, (sorted(ours - found)[:5], sorted(found - ours)[:5])
        print(len(found))
        """

    private func rows(_ output: ProcessOutput) throws -> [[String: String]] {
        try output.stdout.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
        }
    }

    /// Every name below a folder with its size, its time and its bytes.
    private func state(of folder: String) throws -> [String: String] {
        let script = """
            import hashlib, json, os, sys
            def state(path):
                status = os.lstat(path)
                is_file = os.path.isfile(path) and not os.path.islink(path)
                return f"{status.st_mode} {status.st_size} {status.st_mtime_ns} {status.st_ino} " + (
                    hashlib.sha256(open(path, "rb").read()).hexdigest() if is_file else "")
            found = {sys.argv[1]: state(sys.argv[1])}
            for folder, names, files in os.walk(sys.argv[1]):
                for name in names + files: found[os.path.join(folder, name)] = state(os.path.join(folder, name))
            print(json.dumps(found))
            """
        let output = try run("python3", ["-c", script, folder])
        return try #require(
            try JSONSerialization.jsonObject(with: Data(output.stdout.utf8)) as? [String: String], "\(output.stderr)")
    }

    @Test("the dates are those of plistlib and sqlite3, also of the public archives")
    func judged() throws {
        let folders = [folder] + ForeignArchives.folders
        let output = try program(
            ["timeline", "--format", "jsonl", "--epoch", "notes.made=cocoa", "--epoch", "notes.seen=ms"] + folders)
        let lines = try program.scratch.write(output.standardOutput, to: "lines")
        let judged = try run("python3", ["-c", Self.judge, lines] + folders)
        #expect(judged.status == .exited(0), "\(judged.stderr)")
        #expect(Int(judged.stdout.trimmingCharacters(in: .newlines)) ?? 0 >= 20)
    }

    @Test("a date has its path, which inspect takes, its class and the epoch by which it was read")
    func rowsOfADate() throws {
        let file = "\(folder)/a.archive"
        let output = try program("timeline", "--format", "jsonl", "--epoch", "seen=unix", file)
        #expect(output.stderr == "" && output.status == .exited(0))
        let found = try rows(output).map { [$0["time"], $0["path"], $0["class"], $0["epoch"]] }
        #expect(
            found == [
                ["2001-01-01T00:00:00.25Z", "root.data.$embedded.root.changed", "NSDate", "cocoa"],
                ["2001-01-01T00:00:00.25Z", "root.data.$embedded.root.made", "NSDate", "cocoa"],
                ["2014-07-02T13:20:00Z", "root.data.$embedded.root.seen", "integer", "unix"],
                ["2014-07-02T13:20:00Z", "root.seen", "integer", "unix"],
                ["2014-07-02T13:20:00.5Z", "root.changed", "NSDate", "cocoa"],
                ["2014-07-02T13:20:00.5Z", "root.made", "NSDate", "cocoa"],
            ])
        let digest = try run("sha256sum", [file]).stdout.prefix(64)
        #expect(try rows(output).allSatisfy { $0["sha256"] == String(digest) && $0["file"] == file })
        for path in ["root.made", "root.data.$embedded.root.made"] {
            #expect(try program("inspect", file, "--path", path).stdout.hasPrefix("#3 20"))
        }
    }

    @Test("cells of a database have paths that inspect takes; numbers are dates by their column's epoch")
    func cells() throws {
        let file = "\(folder)/plain.db"
        let output = try program(
            "timeline", "--format", "jsonl", "--epoch", "MADE=cocoa", "--epoch", "notes.seen=ms", file)
        let found = try rows(output).map { [$0["time"], $0["path"], $0["class"], $0["epoch"]] }
        #expect(
            found == [
                ["1970-01-01T00:00:00.005Z", "notes.seen[2]", "integer", "ms"],
                ["1999-01-01T00:00:00Z", "pairs.data[row 1].$embedded.k", "date", "cocoa"],
                ["2000-01-01T00:00:00Z", "notes.text[-7].$embedded[0]", "date", "cocoa"],
                ["2001-01-01T00:00:01.5Z", "notes.made[-7]", "real", "cocoa"],
                ["2001-01-02T00:00:00Z", "notes.data[-7].$embedded.root.changed", "NSDate", "cocoa"],
                ["2001-01-02T00:00:00Z", "notes.data[-7].$embedded.root.made", "NSDate", "cocoa"],
                ["2014-07-02T13:20:00.123Z", "notes.seen[-7]", "integer", "ms"],
            ])
        // The blob that only begins like a list is said, with its place.
        #expect(output.stderr.contains("\(file): notes.data[2]: ") && output.status == .exited(65))
        for (path, text) in [
            ("notes.data[-7].$embedded.root.made", "#3 2001-01-02 00:00:00 +0000\n"),
            ("notes.text[-7].$embedded[0]", "2000-01-01 00:00:00 +0000\n"),
        ] {
            #expect(try program("inspect", file, "--path", path).stdout == text)
            #expect(try program("inspect", "\(file)#\(path)").stdout == text)
        }
    }

    @Test("a write-ahead log and a hot journal are honoured, and nothing is written beside a file")
    func readOnly() throws {
        let before = try state(of: folder)
        #expect(
            before.keys.contains { $0.hasSuffix("logged.db-wal") }
                && before.keys.contains { $0.hasSuffix("hot.db-journal") })
        let output = try program("timeline", "--format", "jsonl", "--epoch", "made=cocoa", folder)
        let paths = try rows(output).map { "\(($0["file"] ?? "").dropFirst(folder.count + 1)) \($0["path"] ?? "")" }
        #expect(paths.contains("logged.db notes.data[3].$embedded.root.made"))
        // The rows of the interrupted transaction are none.
        #expect(paths.contains("hot.db notes.made[-7]") && !paths.contains { $0.hasPrefix("hot.db notes.made[1") })
        #expect(try program("inspect", "--json-lines", "--find", "bear", folder).status == .exited(65))
        #expect(try program("inspect", "\(folder)/logged.db").stdout.contains("notes: 3 rows"))
        #expect(try state(of: folder) == before)
        let left = try FileManager.default.contentsOfDirectory(atPath: program.scratch.path)
        #expect(!left.contains { $0.hasPrefix(".cubby-work") })
    }

    @Test("the same files and options give the same bytes", arguments: ["table", "csv", "jsonl", "html"])
    func reproducible(format: String) throws {
        let words = ["timeline", folder, "--format", format, "--epoch", "made=cocoa", "--zone", "Europe/Berlin"]
        let (one, other) = (try program(words), try program(words))
        #expect(one.standardOutput == other.standardOutput && !one.standardOutput.isEmpty)
        #expect(one.stdout.contains("+02:00") && one.stdout.contains("NSDate"))
    }

    @Test("dates are sorted by time, file and path; a table, CSV and HTML have the same rows")
    func order() throws {
        let lines = try rows(try program("timeline", folder, "--format", "jsonl"))
        let csv = try program("timeline", folder, "--format", "csv").standardOutput
        let judge = """
            import csv, io, sys
            from datetime import datetime
            rows = list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))
            assert rows == sorted(rows, key=lambda row: (datetime.fromisoformat(row["time"]), row["file"].encode(), row["path"].encode()))
            print(*[row["time"] + " " + row["path"] for row in rows], sep="\\n")
            """
        let text = try program.scratch.write(csv, to: "rows.csv")
        let judged = try run("/bin/sh", ["-c", "python3 -c \"$1\" < \"$2\"", "sh", judge, text])
        #expect(judged.status == .exited(0), "\(judged.stderr)")
        let expected = lines.map { "\($0["time"] ?? "") \($0["path"] ?? "")" }
        #expect(judged.stdout.split(separator: "\n").map(String.init) == expected)
        let table = try program("timeline", folder).stdout.split(separator: "\n")
        #expect(table.count == lines.count + 1 && table[0].hasPrefix("time "))
        let page = try program("timeline", folder, "--format", "html").stdout
        #expect(page.components(separatedBy: "<tr><td class=\"time\">").count == lines.count + 1)
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"))
    }

    @Test(
        "--from and --to have days, months, years and moments, by the clock of the zone",
        arguments: [
            (["--from", "2014-07-02"], 3), (["--to", "1906"], 1), (["--from", "1969-12", "--to", "1969-12-31"], 1),
            (["--from", "2014-07-02T13:20:00.5Z"], 2), (["--to", "2014-07-02T13:20:00Z", "--from", "2014"], 1),
            (["--from", "2014-07-02T15:20", "--to", "2014-07-02T15:20:00", "--zone", "Europe/Berlin"], 1),
            (["--from", "2014-07-02T17:20:00+04:00", "--to", "2014-07-02T13:20Z"], 1),
            (["--from", "2014-07-03", "--zone", "Pacific/Auckland"], 3),
        ])
    func bounds(words: [String], count: Int) throws {
        let files = ["a.archive", "b/c/list.plist", "b/list"].map { "\(folder)/\($0)" }
        let output = try program(["timeline", "--format", "jsonl"] + words + files)
        #expect(try rows(output).count == count, "\(output.stdout)\(output.stderr)")
    }

    @Test(
        "what is not understood is an error of the command line",
        arguments: [
            (["--from", "yesterday"], "a date as 2026-11-21"), (["--from", "2015", "--to", "2014"], "before"),
            (["--zone", "Europe/Berln"], "Europe/Berlin"), (["--epoch", "seen"], "no ="),
            (["--epoch", "seen=webkti"], "webkit"), (["--zone", "local"], "by its name"),
        ])
    func wrongOptions(words: [String], text: String) throws {
        let output = try program(["timeline", folder] + words)
        #expect(output.status == .exited(64) && output.stderr.contains(text), "\(output.stderr)")
        #expect(output.stderr.contains("Usage: cubby timeline"), "\(output.stderr)")
    }

    @Test("a file that is named twice is read once, which is said; what the options leave out is said, too")
    func leftOut() throws {
        let file = "\(folder)/a.archive"
        let once = try program("timeline", "--format", "jsonl", folder)
        let twice = try program("timeline", "--format", "jsonl", folder, file, "\(folder)/./a.archive")
        #expect(twice.standardOutput == once.standardOutput)
        #expect(
            twice.stderr.components(separatedBy: "passed over \(file): it is named twice, and was read before").count
                == 2)
        #expect(
            try program("inspect", "--json-lines", file, file).stdout.contains("\"passedOver\":\"it is named twice"))

        let outside = try program("timeline", "--from", "2050", file)
        #expect(outside.stdout == "no dates\n" && outside.status == .exited(0))
        #expect(outside.stderr.contains("4 dates are there, but not between --from and --to"), "\(outside.stderr)")
        let wrongCase = try program("timeline", "--epoch", "SEEN=unix", file)
        #expect(wrongCase.stderr.contains("--epoch SEEN: nothing has that field; did you mean 'seen'?"))
        let absent = try program("timeline", "\(folder)/nosuch").stderr
        #expect(absent.contains("\(folder)/nosuch: cannot open it: No such file or directory\n"), "\(absent)")
        let tables = try program("inspect", "\(folder)/plain.db", "notes")
        #expect(tables.status == .exited(64) && tables.stderr.contains("no file 'notes' to compare with"))
        let city = try program("timeline", "--zone", "Berlin", file)
        #expect(city.status == .exited(64) && city.stderr.contains("did you mean 'Europe/Berlin'?"))
        let fields = try program("timeline", "--epoch", "a=cocoa,b=ms", file)
        #expect(fields.status == .exited(64) && fields.stderr.contains("--epoch a=cocoa --epoch b=ms"))
    }

    @Test("webkit's microseconds and unix seconds are exact; numbers of declared dates without an epoch are said")
    func epochs() throws {
        let file = program.scratch.file("visits.sqlite")
        let script = """
            import sqlite3, sys
            base = sqlite3.connect(sys.argv[1])
            base.execute("create table visits (url text, at integer, day datetime, far real)")
            base.execute("insert into visits values ('a', 13048780800000001, 1404307200, 1e300)")
            base.commit()
            """
        #expect(try run("python3", ["-c", script, file]).status == .exited(0))
        let output = try program("timeline", "--format", "jsonl", "--epoch", "at=webkit", "--epoch", "nosuch=ms", file)
        #expect(try rows(output).map { $0["time"] } == ["2014-07-02T13:20:00.000001Z"])
        #expect(output.stderr.contains("visits.day is declared as dates and has 1 value"))
        #expect(output.stderr.contains("--epoch nosuch: nothing has that field"))
        let texts = try program("timeline", "--format", "jsonl", "--epoch", "url=iso", "--epoch", "day=iso", file)
        #expect(texts.stdout.isEmpty && texts.stderr.contains("visits.day has 1 value that its epoch does not read"))
        let list = try program.scratch.write(
            "<plist><dict><key>day</key><string>2014-07-02 15:20 +0200</string></dict></plist>", to: "list.plist")
        let text = try rows(try program("timeline", "--format", "jsonl", "--epoch", "day=iso", list))
        #expect(text.map { [$0["time"], $0["class"], $0["epoch"]] } == [["2014-07-02T13:20:00Z", "text", "iso"]])
        let all = try program("timeline", "--format", "jsonl", "--epoch", "day=unix", "--epoch", "far=cocoa", file)
        #expect(try rows(all).map { $0["time"] } == ["2014-07-02T13:20:00Z", "1e+300 seconds since 2001"])
    }

    @Test("hostile files give errors, and the exit status says so")
    func hostile() throws {
        let paths = ["hostile", "archives"].compactMap(Project.sharedData) + [folder]
        for format in ["jsonl", "table", "html"] {
            let output = try program(["timeline", "--format", format, "--report"] + paths)
            #expect([.exited(0), .exited(65), .exited(74)].contains(output.status), "\(output.stderr.suffix(500))")
        }
    }
}
