import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby inspect`, `cubby convert` and `cubby check`.
@Suite("Archive commands")
struct ArchiveCommandTests {
    let program: Program

    init() throws { program = try Program() }

    /// An archive made by Python, with an object that two others share, a cycle, a date and data.
    static let python = """
        import plistlib, sys
        from plistlib import UID
        def cls(name): return {"$classname": name, "$classes": [name, "NSObject"]}
        objects = ["$null",
          {"$class": UID(9), "NS.objects": [UID(2), UID(3), UID(0)]},
          {"$class": UID(8), "name": UID(4), "valueInDollars": 78, "dateCreated": UID(5), "owner": UID(6)},
          {"$class": UID(8), "name": UID(7), "valueInDollars": 5, "dateCreated": UID(0), "owner": UID(6)},
          "Fluffy Bear", {"$class": UID(10), "NS.time": 0.5},
          {"$class": UID(11), "items": UID(1), "photo": bytes(range(100))}, "Rusty \\x1b[31mSpork",
          cls("Homepwner.Item"), cls("NSArray"), cls("NSDate"), cls("Person")]
        plistlib.dump({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
          "$objects": objects}, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
        """

    func archive(_ name: String = "items.archive", replacing old: String = "", with new: String = "") throws -> String {
        let path = program.scratch.file(name)
        let script = old.isEmpty ? Self.python : Self.python.replacing(old, with: new)
        let output = try run("python3", ["-c", script, path])
        #expect(output.status == .exited(0), "\(output.stderr)")
        return path
    }

    /// The same without the character that XML does not have.
    private func plainArchive() throws -> String { try archive("plain.archive", replacing: "\\x1b[31m", with: "") }

    // MARK: - inspect

    @Test("inspect draws the tree: classes, shared references, cycles, dates, data")
    func tree() throws {
        let output = try program("inspect", try archive())
        #expect(output.status == .exited(0))
        #expect(
            output.stdout == """
                keyed archive, binary, 12 objects
                root: NSArray #1, 3 elements
                ├─ 0: Homepwner.Item
                │  ├─ dateCreated: 2001-01-01 00:00:00.5 +0000
                │  ├─ name: "Fluffy Bear"
                │  ├─ owner: Person #6
                │  │  ├─ items: NSArray #1, which contains this
                │  │  └─ photo: 100 bytes <00010203 04050607 08090a0b 0c0d0e0f 10111213 14151617 …>
                │  └─ valueInDollars: 78
                ├─ 1: Homepwner.Item
                │  ├─ dateCreated: nil
                │  ├─ name: "Rusty \\u{1b}[31mSpork"
                │  ├─ owner: Person #6, shown above
                │  └─ valueInDollars: 5
                └─ 2: nil

                """)
        #expect(!FileManager.default.fileExists(atPath: program.container))
    }

    @Test(
        "--path leads into dictionaries, arrays and objects",
        arguments: [
            ("root[0].name", "\"Fluffy Bear\"\n"), ("root.1.valueInDollars", "5\n"), ("[1].valueInDollars", "5\n"),
            ("root[0].owner.items[2]", "nil\n"), ("$objects[4]", "\"Fluffy Bear\"\n"), ("[\"root\"][2]", "nil\n"),
        ])
    func path(path: String, expected: String) throws {
        let output = try program("inspect", try archive(), "--path", path)
        #expect(output.status == .exited(0))
        #expect(output.stdout == expected)
    }

    @Test("--path that leads nowhere says how far it went and what is there")
    func absentPath() throws {
        let file = try archive()
        let output = try program("inspect", file, "--path", "root[0].nmae")
        #expect(output.status == .exited(1))
        #expect(
            output.stderr
                == "cubby: \(file): there is no “nmae” at root.0: there is dateCreated, name, owner, valueInDollars\n")
        #expect(try program("inspect", file, "--path", "root[").status == .exited(64))
        // A key that holds a point is named as a path has it.
        let other = program.scratch.file("points.json")
        try Data("{\"a.b\": 1, \"\": 2, \"c d\": 3}".utf8).write(to: URL(fileURLWithPath: other))
        let binary = program.scratch.file("points.plist")
        #expect(try program("convert", other, binary).status == .exited(0))
        #expect(
            try program("inspect", binary, "--path", "a.b").stderr
                == "cubby: \(binary): there is no “a” at the top: there is [\"a.b\"], [\"\"], c d\n")
        #expect(try program("inspect", binary, "--path", "[\"a.b\"]").stdout == "1\n")
    }

    @Test("--json is JSON, with what is shared by number")
    func json() throws {
        let output = try program("inspect", "--json", try archive())
        #expect(output.status == .exited(0))
        let object = try JSONSerialization.jsonObject(with: Data(output.standardOutput)) as? [String: Any]
        let root = try #require(object?["root"] as? [String: Any])
        #expect(root["$class"] as? String == "NSArray")
        #expect(root["$id"] as? Int == 1)
        let elements = try #require(root["$elements"] as? [Any])
        let first = try #require(elements[0] as? [String: Any])
        #expect(first["$class"] as? String == "Homepwner.Item")
        #expect((first["dateCreated"] as? [String: String]) == ["$date": "2001-01-01T00:00:00.5Z"])
        let owner = try #require(first["owner"] as? [String: Any])
        #expect((owner["items"] as? [String: Int]) == ["$ref": 1])
        #expect((owner["photo"] as? [String: String])?["$data"]?.isEmpty == false)
        #expect(((elements[1] as? [String: Any])?["owner"] as? [String: Int]) == ["$ref": 6])
        #expect(elements[2] is NSNull)
        #expect(try program("inspect", "--json", "--path", "root[0].valueInDollars", try archive()).stdout == "78\n")
    }

    @Test(
        "an archive with nothing at its top has its objects as unreferenced ones, and an empty one is an empty object")
    func emptyTop() throws {
        let empty = try archive("empty.archive", replacing: "{\"root\": UID(1)}", with: "{}")
        let output = try program("inspect", "--json", empty)
        #expect(output.status == .exited(0))
        let tree = try JSONSerialization.jsonObject(with: Data(output.standardOutput)) as? [String: [String: Any]]
        #expect(tree?.keys.sorted() == ["$unreferenced"])
        #expect(tree?["$unreferenced"]?.keys.sorted() == ["1"])
        let none = try program.scratch.write(
            "<plist><dict><key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>"
                + "<key>$top</key><dict/><key>$objects</key><array><string>$null</string></array></dict></plist>",
            to: "none")
        #expect(try program("inspect", "--json", none).stdout == "{}\n")
    }

    @Test("--xml is the property list as it is")
    func xml() throws {
        let output = try program("inspect", "--xml", try plainArchive())
        #expect(output.stdout.hasPrefix("<?xml"))
        #expect(output.stdout.contains("<key>CF$UID</key>"))
        let foreign = try program("inspect", "--xml", try archive())
        #expect(foreign.stderr.contains("XML does not have the character U+001B") && foreign.status == .exited(0))
        #expect(try program("inspect", "--xml", "--json", try archive()).status == .exited(64))
    }

    @Test("standard input, a depth, whole data, and a property list that is not an archive")
    func other() throws {
        let plist = "<plist><dict><key>a</key><array><integer>1</integer><dict/></array></dict></plist>"
        #expect(
            try program("inspect", "-", input: plist).stdout
                == "property list, XML, 5 objects\n1 entry\n└─ a: 2 elements\n   ├─ 0: 1\n   └─ 1: 0 entries\n")
        #expect(
            try program("inspect", "--depth", "0", try archive()).stdout.hasSuffix("root: NSArray #1, 3 elements …\n"))
        let whole = try program("inspect", "--full", "--path", "root[0].owner.photo", try archive())
        #expect(whole.stdout.hasSuffix("5c5d5e5f 60616263>\n"))
    }

    @Test("colours on a terminal, and none with --no-color or NO_COLOR", arguments: ["", "--no-color", "NO_COLOR=1"])
    func colours(option: String) throws {
        let terminal = try program.terminal(
            ["inspect", try archive()] + (option.hasPrefix("--") ? [option] : []), columns: 200, rows: 50,
            environment: option.hasPrefix("NO") ? ["NO_COLOR": "1"] : [:])
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(
            String(decoding: terminal.rawTranscript, as: UTF8.self).contains("\u{1B}[33mHomepwner.Item\u{1B}[0m")
                == option.isEmpty)
    }

    @Test("two files: their difference as objects, and 1; the same objects in another form, and 0")
    func difference() throws {
        let old = try archive()
        let new = try archive("new.archive", replacing: "\"valueInDollars\": 78", with: "\"valueInDollars\": 80")
        let output = try program("inspect", old, new)
        #expect(output.status == .exited(1))
        #expect(output.stdout == "~ root[0].valueInDollars: 78 → 80\n")
        let fewer = try archive("fewer.archive", replacing: "[UID(2), UID(3), UID(0)]", with: "[UID(3), UID(0)]")
        // Nothing refers to it in the second file, which still has it.
        #expect(
            try program("inspect", old, fewer).stdout
                == "- root[0]: Homepwner.Item …\n+ $objects[2]: Homepwner.Item …\n")
        #expect(
            try program("inspect", fewer, old).stdout
                == "+ root[0]: Homepwner.Item …\n- $objects[2]: Homepwner.Item …\n")
        let (plain, xml) = (try plainArchive(), program.scratch.file("same.xml"))
        #expect(try program("convert", plain, xml).status == .exited(0))
        let same = try program("inspect", plain, xml)
        #expect(same.status == .exited(0))
        #expect(same.stdout == "")
        #expect(try program("inspect", "--path", "root[2]", old, new).status == .exited(0))
        #expect(
            try program("inspect", "--path", "root[1]", old, new).stdout
                == "~ root[1].owner.items[0].valueInDollars: 78 → 80\n")
    }

    // MARK: - convert

    @Test(
        "convert there and back again loses nothing",
        arguments: ["xml", "json"],
        [
            "kiler129_NSKeyedUnarchiver__collections.bin.plist",
            "michaelwright235_nskeyedunarchiver__circularReference.plist",
            "danielpaulus_go-ios__nsvalue.bin", "swiftlang_swift-corelibs-foundation__NSAttributedString.archive",
            "log2timeline_plaso__NSKeyedArchiver.plist", "danielpaulus_go-ios__dict.xml",
        ])
    func roundTrip(form: String, file: String) throws {
        let original = try #require(ForeignArchives.named(file)).path
        let there = program.scratch.file("there.\(form)")
        let back = program.scratch.file("back.archive")
        #expect(try program("convert", original, there).status == .exited(0))
        #expect(try program("convert", there, back).status == .exited(0))
        #expect(try program("inspect", original, back).stdout == "")
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: back))).starts(with: "bplist00".utf8))
        let judge = try run("python3", ["\(Project.root)/Tests/Judges/same_graph.py", original, back])
        #expect(judge.status == .exited(0), "\(judge.stdout)")
    }

    @Test("--format goes before the extension; JSON holds every kind; what XML cannot hold is refused in words")
    func forms() throws {
        let json = try program.scratch.write(
            #"{"d": {"$date": "2026-11-21T04:13:00Z"}, "b": {"$data": "AQID"}, "r": 5.0, "i": 5, "n": null, "k": {"$$date": 1}}"#,
            to: "values.json")
        let binary = program.scratch.file("values.plist")
        #expect(try program("convert", json, binary).status == .exited(0))
        let read = "import plistlib,sys; d=plistlib.load(open(sys.argv[1],'rb')); print(sorted(d.items()))"
        #expect(
            try run("python3", ["-c", read, binary]).stdout
                == "[('b', b'\\x01\\x02\\x03'), ('d', datetime.datetime(2026, 11, 21, 4, 13)), ('i', 5), "
                + "('k', {'$date': 1}), ('n', None), ('r', 5.0)]\n")
        let again = try program("convert", "--format", "json", binary, "-")
        #expect(again.stdout.contains("\"$$date\": 1"))
        #expect(again.stdout.contains("\"r\": 5.0"))
        let refused = try program("convert", binary, program.scratch.file("values.xml"))
        #expect(refused.status == .exited(65))
        #expect(refused.stderr.contains("XML property lists have no null"))
        #expect(!FileManager.default.fileExists(atPath: program.scratch.file("values.xml")))
        for name in ["items.csv", "items.tsv", "a.b/items.sqlite", "items.jpeg"] {
            let other = try program("convert", binary, program.scratch.file(name))
            #expect(other.status == .exited(64), "\(name)")
            #expect(
                other.stderr.contains(".json, .xml, .plist") && other.stderr.contains("--format"), "\(other.stderr)")
        }
        for name in ["without", "a.b.BIN", ".hidden"] {
            #expect(try program("convert", binary, program.scratch.file(name)).status == .exited(0), "\(name)")
        }
        #expect(
            try program("convert", "--format", "binary", binary, program.scratch.file("items.csv")).status == .exited(0)
        )
        let broken = try program("convert", "--format", "xml", "-", "-", input: "{\n\"a\": 1,}")
        #expect(broken.status == .exited(65))
        #expect(
            broken.stderr == "cubby: standard input: after a comma another value is expected, not the end (line 2)\n")
    }

    @Test("convert and timeline say what check warns of: equal keys, dates that no calendar has, odd Base64")
    func damagedText() throws {
        let path = try program.scratch.write(
            "<plist><dict>\n<key>a</key><date>2024-13-01T00:00:00Z</date>\n<key>b</key><data>AB==</data>\n<key>b</key><data>AA==</data></dict></plist>",
            to: "damaged.plist")
        let warnings = [
            "warning on line 2: no calendar has the date “2024-13-01T00:00:00Z”; it reads as 2025-01-01T00:00:00Z",
            "warning on line 3: the data is not Base64 throughout; it reads as 1 byte",
            "warning on line 1: the key “b” stands twice in a dictionary; the last counts",
        ]
        let check = try program("check", path).stdout
        let convert = try program("convert", path, program.scratch.file("out.json"))
        let timeline = try program("timeline", "--report", path)
        #expect(convert.status == .exited(0) && timeline.status == .exited(0))
        for warning in warnings {
            #expect(check.contains(warning) && convert.stderr.contains(warning), "\(check)\(convert.stderr)")
            #expect(timeline.stderr.contains(warning) && timeline.stdout.contains(warning), "\(timeline.stderr)")
        }
    }

    @Test("files that are not there, and files that cannot be written, are input and output")
    func inputOutput() throws {
        for arguments in [["inspect", "absent"], ["check", "absent"], ["convert", "absent", "out.xml"]] {
            let output = try program(arguments)
            #expect(output.status == .exited(74))
            #expect(output.stderr.hasPrefix("cubby: "))
        }
        #expect(try program("convert", try plainArchive(), program.scratch.file("no/folder.xml")).status == .exited(74))
        #expect(try program("inspect", try program.scratch.write("junk", to: "junk")).status == .exited(65))
    }

    // MARK: - check

    @Test("check says that nothing is wrong")
    func sound() throws {
        let file = try archive()
        let output = try program("check", file)
        #expect(output.status == .exited(0))
        #expect(output.stdout.hasPrefix("\(file): keyed archive, binary, "))
        #expect(output.stdout.hasSuffix(" bytes, 12 objects, nothing wrong\n"))
    }

    @Test("check says at which byte what is wrong, and --repair writes the rest")
    func damaged() throws {
        let file = try archive(replacing: "UID(4), \"valueInDollars\"", with: "UID(99), \"valueInDollars\"")
        let repaired = program.scratch.file("repaired.archive")
        let output = try program("check", "--repair", repaired, file)
        #expect(output.status == .exited(65))
        #expect(output.stdout.contains(": object 2: a reference to object 99, of 12\n"))
        #expect(output.stdout.contains("error at byte "))
        #expect(output.stdout.contains("rescue: 10 of 11 objects are whole"))
        #expect(try program("check", repaired).status == .exited(0))
        #expect(try program("inspect", "--path", "root[0].name", repaired).stdout == "nil\n")
        #expect(try program("inspect", "--path", "root[1].valueInDollars", repaired).stdout == "5\n")
    }

    @Test("an archive that is cut off is read as far as it goes", arguments: [40, 120, 200])
    func truncated(cut: Int) throws {
        let file = try archive()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let short = try program.scratch.write(bytes.dropLast(cut), to: "short.archive")
        let repaired = program.scratch.file("repaired.archive")
        let output = try program("check", "--repair", repaired, short)
        #expect(output.status == .exited(65))
        #expect(output.stdout.contains("one after the other, without the offset table"))
        #expect(try program("check", repaired).status == .exited(0))
        #expect(try program("inspect", "--path", "root[0].valueInDollars", repaired).stdout == "78\n")
    }

    @Test("XML is rescued up to the damage")
    func damagedXML() throws {
        let text =
            "<plist>\n<dict>\n<key>a</key><array><integer>1</integer>\n<integer>x</integer></array></dict></plist>"
        let file = try program.scratch.write(text, to: "damaged.xml")
        let repaired = program.scratch.file("repaired.plist")
        let output = try program("check", "--repair", repaired, file)
        #expect(output.status == .exited(65))
        #expect(output.stdout.contains("error on line 4: “x” is not an integer"))
        #expect(try program("inspect", "--path", "a[0]", repaired).stdout == "1\n")
    }

    @Test(
        "what is not a property list is named where it can be",
        arguments: [
            ("", "the file is empty"), ("SQLite format 3\0", "an SQLite database"), ("PK\u{3}\u{4}", "a ZIP file"),
            ("{ \"a\": 1 }", "cubby convert"), ("\0\0\0\0", "all of it is 0"),
        ])
    func strangers(content: String, expected: String) throws {
        let output = try program("check", try program.scratch.write(content, to: "file"))
        #expect(output.status == .exited(65))
        #expect(output.stdout.contains(expected))
    }

    @Test("a container is checked by its archive")
    func container() throws {
        #expect(try program("-e", "items:createItem{ name = 'Bear' } items:saveChanges()").status == .exited(0))
        let output = try program("check", program.container)
        #expect(output.status == .exited(0))
        #expect(output.stdout.contains("items.archive"))
    }
}
