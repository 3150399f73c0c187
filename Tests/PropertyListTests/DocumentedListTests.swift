import Foundation
import PropertyList
import TestSupport
import Testing

// Beside Foundation the names are ambiguous, and are those of this module here.
private typealias PropertyListEncoder = PropertyList.PropertyListEncoder
private typealias PropertyListDecoder = PropertyList.PropertyListDecoder

/// The example of `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Property lists: the documented example") struct DocumentedListTests {
    @Test("a value is written and read, and the page shows what is printed")
    func example() throws {
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        struct Window: Codable {
            var title = "Household"
            var size = [80, 24]
            var recent: [String: Int] = ["Lamp": 3]
            var theme: String?
        }

        var encoder = PropertyListEncoder()
        print(try encoder.encode(Window()).count, "bytes")
        encoder.outputFormat = .xml
        let xml = try encoder.encode(Window())
        print(String(decoding: xml, as: UTF8.self).split(separator: "\n").dropFirst(3).joined(separator: "\n"))

        let window = try PropertyListDecoder().decode(Window.self, from: xml)
        print(window.title, window.size, window.theme ?? "no theme")
        do {
            _ = try PropertyListDecoder().decode([String: [Int8]].self, from: encoder.encode(["size": [80, 240]]))
        } catch DecodingError.dataCorrupted(let context) {
            print(context.codingPath.map(\.stringValue).joined(separator: "."), context.debugDescription)
        }
        // Page ends.

        let page = try DocumentedText.file("docs/embedding.md", after: "## Property lists of values\n", until: "\n## ")
        let output = try DocumentedText.between("```text\n", "```", in: page)
        #expect(printed.joined(separator: "\n") + "\n" == output)
        let own = try DocumentedText.file(#filePath, after: "// Page begins.\n", until: "        // Page ends.")
        let code = own.replacingOccurrences(of: "\n        ", with: "\n").dropFirst(8)
        let swift = try DocumentedText.between("```swift\n", "```", in: page)
        #expect("import PropertyList\n\n" + code == swift)
    }
}
