import CommandTestSupport
import Files
import Foundation
import TestSupport
import Testing

/// Containers that released versions made, and those that later ones may make.
@Suite("Containers of other versions")
struct ReleasedContainersTests {
    let program: Program

    init() throws { program = try Program() }

    static let folder = "\(Project.root)/Tests/Fixtures/containers"

    /// `1.0/saved` and the like.
    static let names: [String] = {
        func list(_ path: String) -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return names.filter { !$0.hasSuffix(".md") && !$0.hasSuffix(".lua") }
        }
        return list(folder).flatMap { version in list("\(folder)/\(version)").map { "\(version)/\($0)" } }.sorted()
    }()

    @Test("there are some")
    func areThere() { #expect(Self.names.count >= 5) }

    /// Copies a fixture to where the program has its container.
    private func copy(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: program.container, withIntermediateDirectories: true)
        for part in ["Documents", "Library"] {
            let source = "\(Self.folder)/\(name)/\(part)"
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: "\(program.container)/\(part)")
        }
    }

    private func shown(_ options: String...) throws -> String {
        let output = try program(options + ["run", "\(Self.folder)/show.lua"])
        #expect(output.status == .exited(0), "\(output.stderr)")
        // 1.0 rounded a moment to three digits; the others were in the container.
        return output.stdout.replacing(/(T\d\d:\d\d:\d\d)(\.\d{4,})Z/) { moment in
            String(moment.1) + String(format: "%.3f", Double("0\(moment.2)") ?? 2).dropFirst() + "Z"
        }
    }

    @Test("each opens with the items that it had, is saved, and has them again", arguments: names)
    func open(name: String) throws {
        try copy(name)
        let expected = try String(contentsOfFile: "\(Self.folder)/\(name)/expected.txt", encoding: .utf8)
        #expect(try shown("--read-only") == expected)
        let check = try program("check", program.container)
        #expect(check.status == .exited(0), "\(check.stdout)")
        #expect(try shown() == expected)
        let changed = try program(
            "-e", "local item = items:createItem{ name = 'new' } items:saveChanges() items:removeItem(item)")
        #expect(changed.status == .exited(0), "\(changed.stderr)")
        #expect(try shown() == expected)
        let aside = try FileManager.default.contentsOfDirectory(atPath: "\(program.container)/Documents")
            .filter { $0.contains("damaged") || $0.contains("torn") || $0.contains("other") }
        #expect(aside == [])
    }

    // MARK: Newer ones

    /// All files with their bytes, but for the lock and what caches hold.
    private func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: program.container) where !path.hasPrefix(".") {
            files[path] = FileManager.default.contents(atPath: "\(program.container)/\(path)")
        }
        return files
    }

    @Test(
        "a container of a newer format is refused with 65 and words, by every command that writes, and unchanged",
        arguments: ["3\n", "10", "two", ""])
    func newerFormat(format: String) throws {
        try copy("1.0/journal")
        try program.scratch.write(format, to: "container/Library/format")
        let before = try contents()
        let csv = try program.scratch.write("name\nLamp\n", to: "lamp.csv")
        let isNumber = Int(format.trimmingCharacters(in: .newlines)) != nil
        let repair = ["check", program.container, "--repair"]
        for words in [["-e", "print(1)"], ["import", csv]] + (isNumber ? [repair] : []) {
            let output = try program(words)
            #expect(output.status == .exited(65), "\(words): \(output.stderr)")
            #expect(output.stdout == "")
            let reason = isNumber ? "a newer cubby wrote it" : "Library/format is damaged"
            #expect(output.stderr.contains(reason), "\(output.stderr)")
            #expect(output.stderr.contains("--read-only"), "\(output.stderr)")
        }
        #expect(try contents() == before)
        let expected = try String(contentsOfFile: "\(Self.folder)/1.0/journal/expected.txt", encoding: .utf8)
        #expect(try shown("--read-only") == expected)
        if isNumber { return }
        // No cubby has written it, but a script of 1.0 could.
        let repaired = try program(repair)
        #expect(repaired.status == .exited(0) && repaired.stdout.contains("format.misplaced-1"), "\(repaired)")
        #expect(try shown() == expected)
    }

    @Test("of a container with a newer journal, --read-only shows the last save")
    func newerJournal() throws {
        try copy("1.0/journal")
        let path = "\(program.container)/Documents/items.journal"
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[8] = 6
        let checksum = bytes.withUnsafeBytes { Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<56])) }
        bytes.replaceSubrange(56..<64, with: (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) })
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let before = try contents()
        let output = try program("-e", "print(1)")
        #expect(output.status == .exited(65))
        #expect(output.stderr.contains("is of format 6, and this program knows up to 5"), "\(output.stderr)")
        let seen = try program("--read-only", "-e", "print(#items, items[2].name)")
        #expect(seen.stdout == "5\tItem 2\n")
        #expect(seen.status == .exited(0))
        #expect(seen.stderr.contains("left as it is"), "\(seen.stderr)")
        #expect(try contents() == before)
    }
}
