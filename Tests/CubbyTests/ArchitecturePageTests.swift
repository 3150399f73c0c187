import Foundation
import TestSupport
import Testing

/// The page that says where a line belongs leads to what there is.
@Suite("The page of the architecture")
struct ArchitecturePageTests {
    @Test("names files and folders that there are")
    func places() throws {
        let page = try String(contentsOfFile: "\(Project.root)/docs/architecture.md", encoding: .utf8)
        let table = try #require(page.components(separatedBy: "## Where a line belongs").last)
        let sources = "\(Project.root)/Sources"
        let files = try #require(FileManager.default.enumerator(atPath: sources)).compactMap { $0 as? String }
        let names = Set(files.map { URL(fileURLWithPath: $0).lastPathComponent })
        let places = table.split(separator: "`").map(String.init).filter { place in
            !place.contains(" ") && (place.contains("/") || [".swift", ".json"].contains { place.hasSuffix($0) })
        }
        #expect(places.count > 60)
        for place in places {
            #expect(names.contains(place) || FileManager.default.fileExists(atPath: "\(sources)/\(place)"), "\(place)")
        }
    }
}
