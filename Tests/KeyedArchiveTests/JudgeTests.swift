import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// What other readers say of archives that were opened and saved without a change.
@Suite("Archives that were opened and saved")
struct JudgeTests {
    @Test("hold as many objects and the classes that the index says", arguments: ForeignArchives.all)
    func agreesWithIndex(_ entry: ForeignArchives.Entry) throws {
        let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
        let archive = try #require(tree.archive)
        #expect(archive.objectCount == entry.objectCount)
        var classes: Set<String> = []
        for index in 1..<archive.objectCount {
            guard let node = tree.node(ofObject: UInt32(index)) else { continue }
            let value = tree.value(node)
            if let name = value.className { classes.insert(name) }
            if case .broken(let error) = value.content {
                // Class descriptions are not values; everything else has to be readable.
                #expect(error.message.contains("no class"), "object \(index): \(error)")
            }
        }
        for name in entry.classes { #expect(classes.contains(name), "\(name)") }
        #expect(!ArchiveCheck(try entry.bytes()).hasErrors)
    }

    @Test("the index lists what there is", arguments: ForeignArchives.folders)
    func indexIsComplete(folder: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0 != "index.tsv" && $0 != "README.md"
        }
        #expect(ForeignArchives.index(of: folder).map(\.file).sorted() == files.sorted())
        #expect(files.count >= 30)
    }

    @Test("are the same graph to Python's plistlib, its UIDs resolved")
    func python() throws {
        let folder = try TemporaryDirectory()
        var pairs: [String] = []
        for entry in ForeignArchives.all {
            let bytes = try entry.bytes()
            for format in [PropertyListFormat.binary, .xml] {
                let saved = try ArchiveGraph.saved(bytes, as: format)
                pairs += [entry.path, try folder.write(saved, to: "\(entry.file).\(format)")]
            }
        }
        let output = try run("python3", ["\(Project.root)/Tests/Judges/same_graph.py"] + pairs)
        let lines = output.stdout.split(separator: "\n")
        #expect(lines.count == pairs.count / 2, "\(output.stderr)")
        for line in lines where !line.hasSuffix(": same") { Issue.record("\(line)") }
        #expect(output.status == .exited(0))
    }

    @Test("the judge tells what differs")
    func judgeCanFail() throws {
        let folder = try TemporaryDirectory()
        func archive(_ text: String) throws -> [UInt8] {
            try KeyedArchiver.archivedData(
                withRootObject: .collection(ArchivedCollection(elements: [.string(text), .integer(1)])))
        }
        let paths = [
            try folder.write(archive("one"), to: "one"), try folder.write(archive("other"), to: "other"),
        ]
        let output = try run("python3", ["\(Project.root)/Tests/Judges/same_graph.py"] + paths)
        #expect(output.status == .exited(1))
        #expect(output.stdout.contains("'one' and 'other'"))
    }

    @Test("are the same to plistutil")
    func plistutil() throws {
        let folder = try TemporaryDirectory()
        let entry = try #require(ForeignArchives.named("kiler129_NSKeyedUnarchiver__collections.bin.plist"))
        let saved = try ArchiveGraph.saved(entry.bytes())
        let path = try folder.write(saved, to: "saved")
        let ours = try BinaryPropertyListReader(saved).xml()
        let output = try run("plistutil", ["-i", path, "-f", "xml"])
        #expect(output.status == .exited(0))
        let theirs = try PropertyListValue(decoding: output.standardOutput)
        #expect(try PropertyListValue(decoding: ours) == theirs)
    }

    /// The program that asks Foundation, beside the tests.
    static let judge: String? = {
        let folders = [Bundle.main.bundlePath, "\(Project.root)/.build/debug", "\(Project.root)/.build-test/debug"]
        return folders.map { "\($0)/FoundationJudge" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    @Test(
        "are the same to Foundation's unarchiver, where it reads them at all",
        .enabled(if: judge != nil, "FoundationJudge is not built"))
    func foundation() throws {
        let judge = try #require(Self.judge)
        let folder = try TemporaryDirectory()
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=no"
        // Foundation recurses for ever on some of these. A sanitizer's report of that is of the judge, not of the tests.
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] { environment[name]?.append(":log_path=stderr") }
        var agreed = 0
        for entry in ForeignArchives.all where entry.objectCount < 100 {
            let before = try run(judge, [entry.path], environment: environment, timeout: 20)
            guard before.status == .exited(0) else { continue }
            let saved = try folder.write(try ArchiveGraph.saved(entry.bytes(), as: .binary), to: entry.file)
            let after = try run(judge, [saved], environment: environment, timeout: 20)
            #expect(after.status == .exited(0), "\(entry.file): \(after.stderr.suffix(300))")
            #expect(after.stdout == before.stdout, "\(entry.file)")
            agreed += 1
        }
        #expect(agreed >= 15)
    }

    private static let hasGNUstep =
        OtherReadersTests.isInstalled("gnustep-config") && OtherReadersTests.isInstalled("gcc")

    @Test(
        "are the same to GNUstep, where it reads them at all",
        .enabled(if: hasGNUstep, "GNUstep is not installed: libgnustep-base-dev, gnustep-make and gobjc"))
    func gnustep() throws {
        let folder = try TemporaryDirectory()
        let judge = "\(folder.path)/judge"
        let compile = """
            gcc -std=gnu11 $(gnustep-config --objc-flags) "$1" -o "$2" $(gnustep-config --base-libs)
            """
        let compiled = try run(
            "/bin/bash", ["-c", compile, "bash", "\(Project.root)/Tests/Judges/gnustep.m", judge], timeout: 120)
        try #require(compiled.status == .exited(0), "\(compiled.stderr.suffix(1000))")
        var agreed = 0
        for entry in ForeignArchives.all {
            let before = try run(judge, [entry.path], timeout: 20)
            guard before.status == .exited(0) else { continue }
            for format in [PropertyListFormat.binary, .xml] {
                let saved = try folder.write(try ArchiveGraph.saved(entry.bytes(), as: format), to: "saved")
                let after = try run(judge, [saved], timeout: 20)
                #expect(after.status == .exited(0), "\(entry.file): \(after.stdout.suffix(300))")
                #expect(
                    after.stdout.replacing(/0x[0-9a-f]+/, with: "") == before.stdout.replacing(/0x[0-9a-f]+/, with: ""),
                    "\(entry.file) as \(format)")
            }
            agreed += 1
        }
        #expect(agreed >= (Project.shared == nil ? 10 : 20))
    }
}
