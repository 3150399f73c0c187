import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What cannot be read is said by every command that shows a file, by the same exit status, and by their reports.
@Suite("Damage in files")
struct DamageTests {
    let program: Program
    private let folder: String

    init() throws {
        program = try Program()
        folder = program.scratch.file("damaged")
        let output = try run("python3", ["-c", Self.files, folder])
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    private static let files = """
        import os, plistlib, sqlite3, sys
        from plistlib import UID
        os.makedirs(sys.argv[1])
        os.chdir(sys.argv[1])
        def archive(fields, *more):
            return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                "$objects": ["$null", dict(fields, **{"$class": UID(2)}),
                    {"$classname": "Bear", "$classes": ["Bear", "NSObject"]}, *more]}, fmt=plistlib.FMT_BINARY)
        def write(path, data): open(path, "wb").write(data)
        whole = archive({"name": UID(3)}, "Fluffy")
        broken = archive({"name": UID(3), "owner": UID(99)}, "Fluffy")
        write("whole.plist", whole)
        write("reference.plist", broken)
        write("data.plist", plistlib.dumps({"in": whole[:-5]}, fmt=plistlib.FMT_BINARY))
        inner = whole
        for _ in range(10): inner = plistlib.dumps({"in": inner}, fmt=plistlib.FMT_BINARY)
        write("nested.plist", inner)
        pair = [1]
        for _ in range(40): pair = [pair, pair]
        write("unfolding.plist", archive({"pair": pair}))
        base = sqlite3.connect("cells.plist")
        base.execute("create table bears (id integer primary key, data blob)")
        base.execute("insert into bears values (1, ?)", (broken,))
        base.commit()
        """

    private static let commands = [
        ["inspect"], ["inspect", "--json"], ["inspect", "--json-lines"], ["inspect", "--find", "no such text"],
        ["check"], ["timeline"],
    ]

    @Test(
        "each command has the same status, and its report does not say that all was read",
        arguments: ["reference", "data", "nested", "unfolding", "cells"])
    func status(name: String) throws {
        for command in Self.commands {
            let output = try program(command + ["--report", "\(folder)/\(name).plist"])
            #expect(output.status == .exited(65), "\(name), \(command): \(output.stderr.suffix(500))")
            let text = output.stdout + output.stderr
            #expect(!text.contains("not read: nothing") && !text.contains("\"unread\":[]"), "\(name), \(command)")
        }
    }

    @Test("a whole file has no damage in any command")
    func whole() throws {
        for command in Self.commands {
            let output = try program(command + ["--report", "\(folder)/whole.plist"])
            #expect(output.status == .exited(command.contains("--find") ? 1 : 0), "\(command): \(output.stderr)")
        }
    }

    @Test("a place that --path shows has the damage below it, and no other")
    func place() throws {
        let file = "\(folder)/reference.plist"
        #expect(try program("inspect", "--path", "root.name", file).status == .exited(0))
        #expect(try program("inspect", "--path", "root.owner", file).status == .exited(65))
    }

    @Test("values that unfold without end are drawn up to a place that is named")
    func unfolding() throws {
        let output = try program("inspect", "\(folder)/unfolding.plist")
        #expect(output.stdout.contains(", not drawn: the values unfold far beyond the file"))
        #expect(output.stdout.utf8.count < 20_000_000)
    }

    @Test(
        "a file that cannot be opened is in the report as not read",
        arguments: [["inspect"], ["inspect", "--bytes"], ["check"], ["timeline"], ["inspect", "--find", "x"]])
    func absent(words: [String]) throws {
        let output = try program(words + ["--report", "\(folder)/absent"])
        #expect(output.status == .exited(74))
        #expect(output.stdout.contains("not read: 1 place\n"), "\(output.stdout)")
    }

    @Test(
        "pipes and devices are refused by name, and never read",
        arguments: [["inspect"], ["inspect", "--bytes"], ["check"], ["timeline"], ["inspect", "--json-lines"]])
    func devices(words: [String]) throws {
        let pipe = "\(folder)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero"] {
            let output = try program(words + [path])
            #expect(output.status == .exited(74))
            #expect((output.stdout + output.stderr).contains("it is a pipe or a device"), "\(path): \(output.stderr)")
        }
    }

    @Test("a cell stands in the place of a file in every command that reads one")
    func cell() throws {
        let cell = "\(folder)/cells.plist#bears.data[1]"
        for words in [["check"], ["timeline"], ["inspect", "--find", "no such text"], ["inspect", "--json-lines"]] {
            let output = try program(words + [cell])
            #expect(output.status == .exited(65), "\(words): \(output.stderr)")
        }
        #expect(try program("inspect", "--bytes", cell).stdout.contains("bytes, "))
        let xml = try program("convert", cell, "-", "--format", "xml")
        #expect(xml.status == .exited(0) && xml.stdout.contains("Fluffy"))
        let absent = try program("check", "\(folder)/cells.plist#bears.data[7]")
        #expect(absent.status == .exited(74) && absent.stderr.contains("no such row in bears: 7"), "\(absent.stderr)")
    }

    @Test("a container's journal is evidence: what no archive has, and what is no longer, are in every output")
    func journal() throws {
        let made = try program(
            "-e",
            """
            items:createItem{ name = "Lamp", itemKey = "lamp" }
            assert(items:saveChanges())
            items:transaction(function()
              items:createItem{ name = "Zither", itemKey = "zither", dateCreated = date("1998-05-05T00:00:00Z") }
            end)
            items:transaction(function() items[1].name = "Lantern" end)
            items:transaction(function() items:removeItem(items[1]) end)
            local folder = app.container.documents .. "/copy"
            assert(fs.makeDirectory(folder))
            assert(fs.write(folder .. "/items.journal", fs.read((items.archivePath:gsub("archive$", "journal")))))
            """)
        #expect(made.status == .exited(0), "\(made.stderr)")
        let folder = "\(program.container)/Documents/copy"
        let file = "\(folder)/items.journal"

        let dates = try program("timeline", "--format", "csv", "--report", folder)
        let row = try #require(dates.stdout.split(whereSeparator: \.isNewline).first { $0.contains("1998-05-05") })
        #expect(row.contains(file) && row.contains("commits[0].changes[0].insert.dateCreated"), "\(row)")
        #expect(dates.stderr.contains("journal of items, 3 commits") && dates.stderr.contains("not read: nothing"))
        #expect(dates.status == .exited(0))
        #expect(try program("inspect", "--find", "lantern", folder).stdout.contains("commits[1].changes[0].set.name"))
        let lines = try program("inspect", "--json-lines", folder).stdout
        #expect(lines.contains(#""remove":"lamp""#) && !lines.contains(#""error""#), "\(lines)")
        let place = try program("inspect", "--path", "commits[0].changes[0].insert.dateCreated", file)
        #expect(place.status == .exited(0) && place.stdout.contains("1998-05-05"), "\(place.stdout)\(place.stderr)")
        #expect(try program("inspect", file).stdout.hasPrefix("journal of items, 3 commits\n"))
        #expect(try program("check", file).stdout == "\(file): journal of items, 3 commits, nothing wrong\n")

        var torn = try Data(contentsOf: URL(fileURLWithPath: file))
        while torn.last == 0 { torn.removeLast() }
        torn.removeLast()
        try torn.write(to: URL(fileURLWithPath: file))
        for words in [["timeline"], ["inspect", "--find", "lantern"], ["inspect"], ["check"]] {
            let output = try program(words + [words == ["inspect"] || words == ["check"] ? file : folder])
            let text = output.stdout + output.stderr
            #expect(output.status == .exited(65) && text.contains("at the end cannot be used"), "\(words): \(text)")
        }
    }

    @Test("a beginning of a journal and nothing else is damage")
    func journalHeader() throws {
        let path = "\(folder)/kept"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("CubbyJnl and what follows".utf8).write(to: URL(fileURLWithPath: "\(path)/items.journal"))
        for words in [["timeline"], ["inspect", "--find", "x"]] {
            let output = try program(words + [path])
            #expect(
                output.status == .exited(65) && output.stderr.contains("ends within its header"), "\(output.stderr)")
        }
    }
}
