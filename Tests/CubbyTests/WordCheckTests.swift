import TestSupport
import Testing

/// scripts/lib/words.py: the check of scripts/test that messages, pages and names have the field's words.
@Suite("The check of words")
struct WordCheckTests {
    private func check(_ folder: String) throws -> ProcessOutput {
        try run("python3", ["\(Project.root)/scripts/lib/words.py", folder])
    }

    @Test("the sources and the pages pass")
    func sources() throws {
        let found = try check(Project.root)
        #expect(found.status == .exited(0) && found.stdout == "")
    }

    @Test(
        "a name with such a word is refused, wherever it is code",
        arguments: [
            ("let keptRows = 1", "a.swift:1: the name keptRows"),
            ("\nfunc noteCommit() {}", "a.swift:2: the name noteCommit"),
            ("struct SaveRefusal: Error {}", "the name SaveRefusal"),
            ("let text = \"\\(rows.map { \"\\($0.others)\" })\"", "the name others"),
            ("let text = #\"\\#(room)\"#", "the name room"),
            ("let text = \"\"\"\n    \\(told)\n    \"\"\"", "a.swift:2: the name told"),
            ("case goOn", "the name goOn"),
        ])
    func refused(_ source: String, finding: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(source, to: "Sources/a.swift")
        let found = try check(folder.path)
        #expect(found.status == .exited(1))
        #expect(found.stdout.contains(finding) && found.stdout.split(separator: "\n").count == 1, "\(found.stdout)")
    }

    @Test(
        "texts, comments and other words are not names with it",
        arguments: [
            "// kept\nlet text = \"others \\\"note\\\" \\(rows)\"\n/* room */",
            "let text = #\"room \"kept\" \\(others)\"#",
            "let other = notable(1)\nlet footnotes = roommate",
            "let worst = findings.contains { $0.severity == .note }\nenum Severity { case note }",
        ])
    func accepted(_ source: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(source, to: "Sources/a.swift")
        let found = try check(folder.path)
        #expect(found.status == .exited(0) && found.stdout == "", "\(found.stdout)")
    }
}
