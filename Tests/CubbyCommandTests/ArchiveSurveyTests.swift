import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby inspect PATH… --json-lines` and `--find`.
@Suite("Many archives at once")
struct ArchiveSurveyTests {
    let program: Program
    private let folder: String

    init() throws {
        program = try Program()
        folder = program.scratch.file("backup")
        let output = try run("python3", ["-c", Self.files, folder])
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    /// A folder with archives, one in the data of another, property lists, damage, and files of other kinds.
    private static let files = """
        import os, plistlib, sys
        from plistlib import UID
        os.makedirs(sys.argv[1] + "/b/c")
        os.chdir(sys.argv[1])
        def archive(name, value):
            return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                "$objects": ["$null", {"$class": UID(2), "name": UID(3)},
                    {"$classname": name, "$classes": [name, "NSObject"]}, value]}, fmt=plistlib.FMT_BINARY)
        def write(path, data): open(path, "wb").write(data)
        inner = archive("Bear", "Fluffy")
        write("a.archive", archive("Box", inner))
        write("b/c/list.plist", plistlib.dumps({"a.b": ["fluffy", 5], "n": 2.5}))
        write("b/cut.plist", inner[:-5])
        write("b/data", archive("Sheet", 78))
        write("b/page.xml", b"<?xml version='1.0'?><svg/>")
        write("photo.jpg", b"\\xff\\xd8\\xff" * 1000)
        write(b"odd\\xff.plist", inner)
        os.symlink("..", "b/up")
        os.symlink("a.archive", "link.archive")
        os.mkfifo("pipe")
        """

    private func lines(_ output: ProcessOutput) throws -> [[String: Any]] {
        try output.stdout.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("a line for each property list of a folder, in order; the rest is passed over and counted")
    func folderOfFiles() throws {
        let output = try program("inspect", folder, "--json-lines")
        var lines = try lines(output)
        #expect(
            lines.filter { $0["passedOver"] == nil }.map { ($0["file"] as? String)?.dropFirst(folder.count + 1) }
                == ["a.archive", "b/c/list.plist", "b/cut.plist", "b/data", "odd\u{FFFD}.plist"])
        let passedOver = lines.compactMap { line in
            (line["passedOver"] as? String).map {
                "\((line["file"] as? String)?.dropFirst(folder.count + 1) ?? ""): \($0)"
            }
        }
        #expect(
            passedOver == [
                "b/page.xml: not a property list or a database", "b/up: a link, which is not followed",
                "link.archive: a link, which is not followed", "photo.jpg: not a property list or a database",
                "pipe: a pipe or a device",
            ])
        #expect(lines.allSatisfy { $0["passedOver"] == nil || $0.count == 2 })
        lines.removeAll { $0["passedOver"] != nil }
        #expect(lines[0]["classes"] as? [String: Int] == ["Bear": 1, "Box": 1])
        let root = (lines[0]["top"] as? [String: Any])?["root"] as? [String: Any]
        let embedded = (root?["name"] as? [String: Any])?["$embedded"] as? [String: Any]
        #expect((embedded?["root"] as? [String: String]) == ["$class": "Bear", "name": "Fluffy"])
        #expect((lines[1]["top"] as? [String: Any])?["n"] as? Double == 2.5)
        #expect(lines[1]["classes"] as? [String: Int] == [:])
        #expect((lines[2]["error"] as? String)?.contains("at byte") == true)
        #expect(lines[2]["top"] == nil)
        #expect((lines[4]["error"] as? String)?.contains("not UTF-8") == true)
        #expect(output.status == .exited(74))
        #expect(
            output.stderr
                == "cubby: 2 of 5 files cannot be read whole; 5 files were passed over\n")
    }

    @Test("without JSON standard error names the first files that are passed over, then their number")
    func namesOfPassedOver() throws {
        let output = try program("inspect", "--find", "fluffy", folder)
        #expect(output.stderr.contains("cubby: passed over \(folder)/photo.jpg: not a property list or a database\n"))
        #expect(output.stderr.contains("cubby: passed over \(folder)/b/up: a link, which is not followed\n"))
        #expect(output.stderr.contains("5 files were passed over\n"))
        let many = program.scratch.file("many")
        try FileManager.default.createDirectory(atPath: many, withIntermediateDirectories: true)
        for index in 10..<35 { try Data("text".utf8).write(to: URL(fileURLWithPath: "\(many)/\(index).txt")) }
        let some = try program("inspect", "--find", "x", many)
        #expect(some.stderr.split(separator: "\n").count == 11)
        #expect(
            some.stderr.hasSuffix(
                "25 files were passed over, 15 of them not named here: --json-lines names all\n"))
    }

    @Test("the digests are those of sha256sum, the lines are JSON to Python")
    func judges() throws {
        let paths = ForeignArchives.folders + [folder] + [Project.sharedData("hostile")].compactMap(\.self)
        let output = try program(["inspect", "--json-lines"] + paths)
        let judge = """
            import hashlib, json, plistlib, sys
            count = 0
            for line in sys.stdin:
                entry = json.loads(line)
                assert set(entry) <= {"file", "sha256", "classes", "top", "error", "passedOver"}, entry
                if "sha256" not in entry: continue
                data = open(entry["file"], "rb").read()
                assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry["file"]
                if "error" in entry: continue
                try: value = plistlib.loads(data)
                except Exception: continue  # it is stricter with the hostile ones
                if not isinstance(value, dict) or "$archiver" not in value: continue
                names = [o["$classname"] for o in value["$objects"] if isinstance(o, dict) and "$classname" in o]
                inside = "$embedded" in line
                assert inside or set(entry["classes"]) <= set(names), entry["file"]
                assert set(entry["top"]) - {"$objects", "$archiver", "$unreferenced", "$file"} <= {k[1:] if k[:2] == "$$" else k for k in value["$top"]}, entry["file"]
                count += 1
            print(count)
            """
        let text = try program.scratch.write(output.standardOutput, to: "lines")
        let judged = try run("/bin/sh", ["-c", "python3 -c \"$1\" < \"$2\"", "sh", judge, text])
        #expect(judged.status == .exited(0), "\(judged.stderr)")
        #expect(Int(judged.stdout.trimmingCharacters(in: .newlines)) ?? 0 >= 30)
    }

    @Test("--find gives places by the path that --path takes, in archives within archives too")
    func find() throws {
        let output = try program("inspect", "--find", "FLUFFY", folder)
        #expect(
            output.stdout == """
                \(folder)/a.archive: root.name.$embedded.root.name: "Fluffy"
                \(folder)/b/c/list.plist: ["a.b"][0]: "fluffy"

                """)
        #expect(output.stderr.contains("b/cut.plist: "))
        #expect(output.status == .exited(74))
        let value = try program("inspect", "\(folder)/a.archive", "--path", "root.name.$embedded.root.name")
        #expect(value.stdout == "\"Fluffy\"\n")
        let one = try program("inspect", "--find", "78", "\(folder)/b/data", "\(folder)/a.archive")
        #expect(one.stdout == "\(folder)/b/data: root.name: 78\n")
        #expect(one.status == .exited(0))
        #expect(try program("inspect", "--find", "nowhere", "\(folder)/b/data").status == .exited(1))
    }

    @Test("with --json-lines only files that have the text, and where")
    func findJSON() throws {
        let output = try program("inspect", "--json-lines", "--find", "bear", folder)
        let lines = try lines(output).filter { $0["passedOver"] == nil }
        #expect(lines.count == 1)
        let found = try #require(lines.first?["found"] as? [[String: Any]])
        #expect(found.map { $0["path"] as? String } == ["root.name.$embedded.root"])
        let value = try #require(found[0]["value"] as? [String: Any])
        #expect(value["$class"] as? String == "Bear" && value["$count"] as? Int == 1 && value.count == 2)
        #expect(lines[0]["sha256"] != nil && lines[0]["top"] != nil)
    }

    @Test("named files: links are followed, standard input is read, what is none has an error")
    func named() throws {
        let output = try program(
            "inspect", "--json-lines", "\(folder)/link.archive", "-", "\(folder)/photo.jpg", "\(folder)/absent",
            input: "<plist><string>in</string></plist>")
        let lines = try lines(output)
        #expect(
            lines.map { ($0["file"] as? String)?.split(separator: "/").last } == [
                "link.archive", "-", "photo.jpg", "absent",
            ])
        #expect(lines[1]["top"] as? String == "in")
        #expect(lines[2]["error"] != nil && lines[2]["sha256"] != nil)
        #expect(lines[3]["error"] != nil && lines[3]["sha256"] == nil)
        #expect(output.status == .exited(74))
        #expect(try program("inspect", "--json-lines", "\(folder)/photo.jpg").status == .exited(65))
        #expect(try program("inspect", "--json-lines", "\(folder)/a.archive").status == .exited(0))
        #expect(
            try program("inspect", "--path", "", "-", input: "<plist><string>in</string></plist>").stdout == "\"in\"\n")
    }

    @Test(
        "what does not go together is refused",
        arguments: [
            ["--json-lines", "--json", "a"], ["--find", "", "a"], ["--find", "x", "--path", "root", "a"],
            ["a", "b", "c"],
            ["--json-lines"],
        ])
    func usage(arguments: [String]) throws {
        #expect(try program(["inspect"] + arguments).status == .exited(64))
    }
}
