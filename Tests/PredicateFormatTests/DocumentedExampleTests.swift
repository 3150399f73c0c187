import Foundation
import PredicateFormat
import PropertyList
import TestSupport
import Testing

/// The example of `docs/products/predicate-format.md`: the page has the same lines, and what they print.
@Suite("Predicates: the documented example") struct DocumentedExampleTests {
    @Test("a plain struct is judged, and the page shows what is printed")
    func example() throws {
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        struct Lamp: PredicateRecord {
            var room: String
            var watts: Int
            var tags: [String] = []

            func value(forKey key: String) -> PropertyListValue? {
                switch key {
                case "room": .string(room)
                case "watts": .integer(Int64(watts))
                case "tags": .array(tags.map { .string($0) })
                default: nil
                }
            }
        }

        let lamps = [
            Lamp(room: "Study", watts: 40, tags: ["desk"]), Lamp(room: "Kitchen", watts: 60),
            Lamp(room: "Küche", watts: 15, tags: ["night", "wall"]),
        ]

        let bright = try FormatPredicate(
            format: "watts > $least AND (room BEGINSWITH[cd] 'kuche' OR ANY tags == 'desk')",
            variables: ["least": .integer(10)])
        print(lamps.filter(bright.evaluate).map(\.room))
        print(bright)
        print(bright.fields.sorted())

        do {
            let misspelt = try FormatPredicate(format: "wats > 10")
            try misspelt.check(knownFields: ["room", "watts", "tags"], of: "lamp")
        } catch {
            print(error)
        }

        // For many records: fields are read in their own types.
        let dim = try FormatPredicate(format: "watts BETWEEN {1, 40}").compiled { key in
            switch key {
            case "room": PredicateAccessor<Lamp>.string { $0.room }
            case "watts": .integer { Int64($0.watts) }
            default: .value { $0.value(forKey: key) }
            }
        }
        print(lamps.count(where: dim))
        // Page ends.

        let page = try DocumentedText.file("docs/products/predicate-format.md")
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
        let lines = try DocumentedText.example(in: #filePath)
        let swift = try DocumentedText.between("```swift\n", "```", in: page)
        #expect("import PredicateFormat\nimport PropertyList\n\n" + lines == swift)
    }

    @Test(
        "the page has the errors as they are said",
        arguments: ["watts >", "watts ISH 3", "watts > $least", "5 CONTAINS 'x'", "room MATCHES '('"])
    func errors(format: String) throws {
        let page = try DocumentedText.file("docs/products/predicate-format.md")
        let error = try #require(throws: FormatPredicateError.self) { try FormatPredicate(format: format) }
        #expect(page.contains("`\(error.message)`"), "\(error.message)")
    }
}
