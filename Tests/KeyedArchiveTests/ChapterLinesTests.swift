import Foundation
import TestSupport
import Testing

/// The lines of Objective-C and of Swift in docs/chapter.md and at the steps of `cubby chapter`.
@Suite("The chapter's lines of other languages")
struct ChapterLinesTests {
    private static let judge = "\(Project.root)/Tests/Judges/chapter_lines.py"
    private static let hasGNUstep =
        OtherReadersTests.isInstalled("gnustep-config") && OtherReadersTests.isInstalled("gcc")
    private static let hasSwift = OtherReadersTests.isInstalled("swiftc")

    private func compile(_ language: String, _ files: String...) throws -> ProcessOutput {
        try run("python3", [Self.judge, language] + files, timeout: 300)
    }

    @Test(
        "those of Objective-C compile, with GNUstep's Foundation",
        .enabled(if: hasGNUstep, "GNUstep is not installed: libgnustep-base-dev, gnustep-make and gobjc"))
    func objectiveC() throws {
        let result = try compile("objc")
        #expect(result.status == .exited(0), "\(result.stderr)")
        // All of the page's and of the steps'.
        let count = try #require(result.stdout.split(separator: " ").first.flatMap { Int($0) })
        #expect(count >= 55)
    }

    @Test("those of Swift compile, with Foundation", .enabled(if: hasSwift, "swiftc is not on PATH"))
    func swift() throws {
        let result = try compile("swift")
        #expect(result.status == .exited(0), "\(result.stderr)")
        let count = try #require(result.stdout.split(separator: " ").first.flatMap { Int($0) })
        #expect(count >= 52)
    }

    @Test("a line that does not compile is told with its place", .enabled(if: hasGNUstep && hasSwift))
    func faults() throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            "# A page\n\n| Objective-C | Swift |\n| --- | --- |\n| `[coder encodeObjekt:item]` | `NSKeyedUnarchiver(forReadingFrom: data)` |\n",
            to: "page.md")
        try folder.write("swift: \"coder.decodeObjekt()\"\nobjectiveC: \"NSError **\"\n", to: "steps.swift")
        let files = [folder.path + "/page.md", folder.path + "/steps.swift"]
        let ofC = try compile("objc", files[0], files[1])
        #expect(ofC.status == .exited(1) && ofC.stderr.contains("page.md:5") && ofC.stderr.contains("encodeObjekt"))
        let ofSwift = try compile("swift", files[0], files[1])
        #expect(ofSwift.status == .exited(1))
        #expect(ofSwift.stderr.contains("page.md:5") && ofSwift.stderr.contains("not marked with 'try'"))
        #expect(ofSwift.stderr.contains("steps.swift:1") && ofSwift.stderr.contains("decodeObjekt"))
    }
}
