import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The pictures of sessions in the README, which `scripts/lib/session_svg.py` draws of a terminal's screen.
@Suite("Pictures of sessions")
struct SessionPictureTests {
    static let pictures: [(name: String, texts: [String], rectangles: Int)] = [
        (
            "session",
            ["41 created, 0 updated", "did you mean room?", "1 image, 320×240", "going away with 41 items"], 300
        ),
        ("table", ["guitar.png", "6 rows"], 6),
        ("pager", ["Painting \"Harbour, Evening\"", "&gt; 4", "rows 1–24 of 36", "q: leave"], 1),
        ("debugger", ["breakpoint 1", "[1]:3&gt;", "part = 20.0", "[2]:1"], 0),
    ]

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Project.root)/docs/\(name).svg", encoding: .utf8)
    }

    @Test("each shows what the program does", arguments: pictures.indices)
    func picture(_ index: Int) throws {
        let (name, texts, rectangles) = Self.pictures[index]
        let picture = try text(name)
        #expect(picture.hasPrefix("<svg xmlns=") && picture.hasSuffix("</svg>\n"))
        for text in texts {
            #expect(picture.contains(text), "scripts/lib/session_svg.py draws it anew: \(text)")
        }
        // A half block is drawn as rectangles.
        #expect(picture.ranges(of: "<rect ").count > rectangles)
    }

    private static let chromium = ["chromium-headless-shell", "chromium"].lazy
        .map { "/usr/bin/\($0)" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test("a browser shows each character in its column")
    func columns() throws {
        let chromium = try #require(
            Self.chromium,
            "Chromium is absent, so the columns of docs/*.svg are not known: apt install chromium-headless-shell")
        let judge = try run(
            "/usr/bin/python3",
            ["\(Project.root)/Tests/Judges/columns.py", chromium]
                + Self.pictures.map { "\(Project.root)/docs/\($0.name).svg" })
        #expect(judge.status == .exited(0), "\(judge.stdout)\(judge.stderr)")
    }

    @Test("they are of this version", arguments: ["session", "table", "debugger"])
    func version(_ name: String) throws {
        let version = try #require(try Program()("--version").stdout.split(separator: " ").dropFirst().first)
        #expect(try text(name).contains("Cubby \(version) · Lua 5.4"))
    }

    @Test("the README shows the session first, is short, and its pictures exist")
    func page() throws {
        let page = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 150)
        #expect(lines.prefix(12).contains { $0.hasPrefix("![") && $0.contains("(docs/session.svg)") })
        let files = page.matches(of: /!\[[^\]]*\]\(([^)]+)\)/).map { String($0.1) }
        #expect(files.count == 5)
        for file in files { #expect(FileManager.default.fileExists(atPath: "\(Project.root)/\(file)"), "\(file)") }
    }
}
