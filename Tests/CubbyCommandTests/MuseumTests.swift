import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The main job on the museum's 28,143 objects.
@Suite(
    "Museum", .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"))
struct MuseumTests {
    /// Resolves the archive with plistlib alone and holds it against the CSV as Python's csv module reads it.
    static let comparison = """
        import csv, plistlib, sys
        from datetime import datetime, timedelta
        archive = plistlib.load(open(sys.argv[1], "rb"))
        assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000, archive.keys()
        objects = archive["$objects"]
        def resolve(value):
            return objects[value.data] if isinstance(value, plistlib.UID) else value
        def plain(value):
            value = resolve(value)
            if isinstance(value, dict) and "NS.time" in value:
                return datetime(2001, 1, 1) + timedelta(seconds=value["NS.time"])
            return None if value == "$null" else value
        items = [resolve(uid) for uid in resolve(archive["$top"]["root"])["NS.objects"]]
        # newline="" keeps the line ends that stand inside of cells.
        rows = list(csv.DictReader(open(sys.argv[2], encoding="utf-8", newline="")))
        names = {"title": "name", "accession_number": "serialNumber"}
        assert len(items) == len(rows) == 28143, (len(items), len(rows))
        keys = set()
        for number, (item, row) in enumerate(zip(items, rows)):
            assert resolve(item["$class"])["$classname"] == "Item"
            keys.add(plain(item["itemKey"]))
            assert type(item["valueInDollars"]) is int
            for column, cell in row.items():
                found = plain(item[names.get(column, column)])
                assert found == cell, (number, column, found, cell)
            if row["date_acquired"]:
                created = plain(item["dateCreated"])
                assert created.strftime("%Y-%m-%d") == row["date_acquired"], (number, created)
        assert len(keys) == 28143
        print("equal", len(items))
        """

    @Test("imported once, kept byte for byte, found again")
    func museum() throws {
        let program = try Program()
        let csv = try #require(Project.sharedData("carnegie.csv"))
        let images = try #require(Project.sharedData("images"))
        let script = "\(Project.root)/examples/museum.lua"

        let first = try program("run", script, csv, images)
        #expect(first.status == .exited(0))
        #expect(first.stdout.contains("28143 items, 6 pictures"))
        #expect(first.stderr.contains("going away with 28143 items"))
        #expect(first.stderr.contains("Saved all of the Items"))
        let oldest = first.stdout.split(separator: "\n").drop { !$0.hasPrefix("the ten oldest") }
        #expect(oldest.dropFirst().count == 10)

        let python = try run("python3", ["-c", Self.comparison, program.archive, csv])
        #expect(python.stdout == "equal 28143\n", "\(python.stderr.suffix(600))")
        let tool = try run("/bin/sh", ["-c", "plistutil -i \"$0\" -f xml | wc -c", program.archive])
        #expect((Int(tool.stdout.filter(\.isNumber)) ?? 0) > 10_000_000, "\(tool.stderr)")

        let again = try program("run", script, csv, images)
        #expect(again.status == .exited(0))
        #expect(Self.answers(again.stdout) == Self.answers(first.stdout))
        #expect(!again.stderr.contains("Saved"))

        let pictures = try program(
            "-e",
            """
            for _, key in ipairs(images:keys()) do
              local file = fs.read(images:imagePath(key))
              print(items:item(key) ~= nil, file:sub(1, 3) == "\\xff\\xd8\\xff", images:image(key).width > 0)
            end
            """)
        #expect(pictures.stdout == String(repeating: "true\ttrue\ttrue\n", count: 6))
    }

    /// What was printed from the count on; the import's own lines come only once.
    private static func answers(_ output: String) -> [Substring] {
        Array(output.split(separator: "\n").drop { !$0.hasPrefix("28143 items") })
    }
}
