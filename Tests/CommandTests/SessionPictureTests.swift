import Foundation
import TestSupport
import Testing

/// The picture of a first session in the README, which `scripts/lib/session_svg.py` makes of what a terminal shows.
@Suite("The picture of a first session", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct SessionPictureTests {
    @Test("is of this version, and shows what the program does")
    func picture() throws {
        let text = try String(contentsOfFile: "\(Project.root)/docs/session.svg", encoding: .utf8)
        #expect(text.hasPrefix("<svg xmlns=") && text.hasSuffix("</svg>\n"))
        let version = try #require(try Program()("--version").stdout.split(separator: " ").dropFirst().first)
        for shown in [
            "Cubby \(version) · Lua 5.4", "41 created, 0 updated", "did you mean room?", "1 image, 320×240",
            "going away with 41 items",
        ] {
            #expect(text.contains(shown), "made anew by scripts/lib/session_svg.py: \(shown)")
        }
        // A picture of half blocks is rectangles.
        #expect(text.ranges(of: "<rect ").count > 300)
    }

    @Test("the README shows it first, is short, and its pictures are there")
    func page() throws {
        let lines = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 150)
        #expect(lines.prefix(12).contains { $0.hasPrefix("![") && $0.contains("(docs/session.svg)") })
        #expect(FileManager.default.fileExists(atPath: "\(Project.root)/docs/gallery.png"))
    }
}
