import Foundation
import TestSupport
import Testing

/// The programs of `docs/embedding.md` that are packages: built from the page's own lines, they print what the page says.
@Suite("Documented programs", .serialized, .enabled(if: ExamplePackage.areAllTried, "scripts/test --all"))
struct DocumentedProgramsTests {
    /// The blocks of a part of the page, in order.
    private static func blocks(of heading: String) throws -> [(language: String, text: String)] {
        let page = try String(contentsOfFile: "\(Project.root)/docs/embedding.md", encoding: .utf8)
        let start = try #require(page.range(of: "\n## \(heading)\n"))
        let part = page[start.upperBound...].prefix(
            upTo: page.range(of: "\n## ", range: start.upperBound..<page.endIndex)?.lowerBound ?? page.endIndex)
        var blocks: [(language: String, text: String)] = []
        var open: (language: String, lines: [Substring])?
        for line in part.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open { blocks.append((block.language, block.lines.map { $0 + "\n" }.joined())) }
                open = open == nil ? (String(line.dropFirst(3)), []) : nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }

    @Test("print what the page says", .timeLimit(.minutes(30)))
    func programs() throws {
        let lamps = try Self.blocks(of: "A program whose scripts see its own class")
        let formula = try Self.blocks(of: "Lua alone")
        try #require(lamps.count >= 3 && formula.count >= 2)
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        let house = "\(directory.path)/house"
        try files.createSymbolicLink(atPath: "\(directory.path)/cubby", withDestinationPath: Project.root)
        for (name, text) in [("lamps", lamps[1].text), ("formula", formula[0].text)] {
            try files.createDirectory(atPath: "\(house)/Sources/\(name)", withIntermediateDirectories: true)
            try text.write(toFile: "\(house)/Sources/\(name)/main.swift", atomically: true, encoding: .utf8)
        }
        try lamps[0].text.write(toFile: "\(house)/Package.swift", atomically: true, encoding: .utf8)
        let build = try run("swift", ["build", "--package-path", house], timeout: 1500)
        try #require(build.status == .exited(0), "\(build.stdout)\(build.stderr)")
        for (name, expected) in [("lamps", lamps[2].text), ("formula", formula[1].text)] {
            let output = try run("\(house)/.build/debug/\(name)", directory: house)
            #expect(output.status == .exited(0), "\(output.stderr)")
            #expect(output.stdout == expected)
        }
    }
}
