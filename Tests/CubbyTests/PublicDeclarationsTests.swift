import Foundation
import TestSupport
import Testing

/// What `scripts/api` says of the modules that these tests were built with.
@Suite("Public declarations") struct PublicDeclarationsTests {
    static let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

    private func symbols(_ arguments: String...) throws -> ProcessOutput {
        try run(
            "python3", ["\(Project.root)/scripts/lib/symbols.py", arguments[0], Self.build] + arguments.dropFirst())
    }

    @Test("a declaration that is gone or has changed is named, unless the change log says so")
    func comparison() throws {
        let folder = try TemporaryDirectory()
        let lists = folder.file("api")
        #expect(try symbols("write", lists).status == .exited(0))
        let path = "\(lists)/CSV.txt"
        let list = try String(contentsOfFile: path, encoding: .utf8)
        let declared = "CSVReader: func next(into row: inout CSVRow) throws(CSVError) -> Bool"
        #expect(list.contains("\n\(declared)\n"))

        // The last release had another result, and a function more.
        let former = declared.replacing("-> Bool", with: "-> Int")
        let gone = "CSVReader: func rewind()"
        let old = list.replacing(declared, with: former) + gone + "\n"
        try old.write(toFile: path, atomically: true, encoding: .utf8)
        let log = folder.file("CHANGELOG.md")
        func compare(_ changes: String) throws -> ProcessOutput {
            try changes.write(toFile: log, atomically: true, encoding: .utf8)
            return try symbols("compare", lists, log)
        }
        let silent = try compare("## Unreleased\n\n- A line.\n\n## 0.9.0\n\n### Breaking\n\n- `rewind`\n")
        #expect(silent.status == .exited(1))
        #expect(silent.stdout == "CSV: \(former)\nCSV: \(gone)\n")
        let half = try compare("## Unreleased\n\n### Breaking\n\n- `rewind` is gone.\n\n## 0.9.0\n")
        #expect(half.stdout == "CSV: \(former)\n")
        #expect(try compare("## Unreleased\n\n### Breaking\n\n- `rewind`; `next` gives a Bool.\n").status == .exited(0))
    }
}
