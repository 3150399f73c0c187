import Foundation
import TestSupport
import Testing

/// The page that compares the products with others names a test for what it says of them.
@Suite("The page of features")
struct FeaturePageTests {
    @Test("names tests that there are, in each row")
    func rows() throws {
        let tests = "\(Project.root)/Tests"
        let files = try #require(FileManager.default.enumerator(atPath: tests)).compactMap { $0 as? String }
        let known = Set(files.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        let page = try String(contentsOfFile: "\(Project.root)/docs/features.md", encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
        #expect(rows.count > 40)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            let named = cells.count > 3 ? cells[3].split(separator: "`").filter { $0.hasSuffix("Tests") } : []
            for test in named { #expect(known.contains(String(test)), "\(test), in \(row)") }
            // A title, what is not in the product, and what a script tests.
            let isFree = cells.count > 3 && ["test", ""].contains(cells[3].trimmingCharacters(in: .whitespaces))
            #expect(!named.isEmpty || isFree || row.contains("Tests/Dependents/check"), "\(row)")
        }
    }
}
