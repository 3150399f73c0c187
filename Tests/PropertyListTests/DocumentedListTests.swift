import Foundation
import PropertyList
import TestSupport
import Testing

// Beside Foundation the names are ambiguous, and are those of this module here.
private typealias PropertyListEncoder = PropertyList.PropertyListEncoder
private typealias PropertyListDecoder = PropertyList.PropertyListDecoder

/// The example of `docs/products/property-list.md`: the page has the same lines, and what they print.
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

        // A list that no type describes: its values by kind.
        var fields = try PropertyListValue(decoding: xml).fields ?? [:]
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .string(let text): print(key, text)
            case .array(let elements): print(key, elements.count, "elements")
            default: print(key, value.fields?.keys.sorted() ?? [])
            }
        }
        fields["theme"] = .string("dark")
        print(try PropertyListValue.dictionary(PropertyListDictionary(fields)).encoded(as: .binary).count, "bytes")

        for text in ["<plist>\n<array><integer>x</integer></array></plist>", "<plist><array><array/></array></plist>"] {
            do {
                _ = try PropertyListValue(decoding: Array(text.utf8), limits: PropertyListLimits(maximumDepth: 1))
            } catch {
                print(error)
            }
        }
        // Page ends.

        let page = try DocumentedText.file("docs/products/property-list.md")
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
        let lines = try DocumentedText.example(in: #filePath)
        #expect(try DocumentedText.between("```swift\n", "```", in: page) == "import PropertyList\n\n" + lines)
    }

    @Test("the page has the errors as they are said")
    func errors() throws {
        let page = try DocumentedText.file("docs/products/property-list.md")
        var encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let cut = Array("<plist>\n<dict><key>a</key>\n<string>b".utf8)
        func isSaid(_ body: () throws -> Void) {
            do {
                try body()
                Issue.record("no error")
            } catch EncodingError.invalidValue(_, let context) {
                #expect(page.contains("`\(context.debugDescription)`"))
            } catch DecodingError.typeMismatch(_, let context) {
                #expect(page.contains("`\(context.debugDescription)`"))
            } catch {
                #expect(page.contains("`\(error)`"), "\(error)")
            }
        }
        isSaid { _ = try encoder.encode(5) }
        isSaid { _ = try encoder.encode([Date(timeIntervalSinceReferenceDate: 0.5)]) }
        isSaid { _ = try PropertyListDecoder().decode([String].self, from: encoder.encode([1])) }
        isSaid { _ = try PropertyListValue(decoding: [0, 1]) }
        isSaid { _ = try PropertyListValue(decoding: cut) }
    }
}
