import Testing
import Wording

@Suite("Nearest names")
struct NearestNamesTests {
    @Test(
        "The distance counts slips",
        arguments: [
            ("name", "name", 0), ("name", "NAME", 0), ("nmae", "name", 1), ("nam", "name", 1), ("names", "name", 1),
            ("game", "name", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("ca", "abc", 3), ("größe", "grosse", 3),
        ])
    func distance(first: String, second: String, slips: Int) {
        #expect(NearestNames.distance(first, second) == slips)
        #expect(NearestNames.distance(second, first) == slips)
    }

    @Test(
        "The nearest names, nearest first",
        arguments: [
            ("nmae", ["name"]), ("valueindollars", ["valueInDollars"]), ("value", ["valueInDollars"]), ("zzz", []),
            ("", []), ("tag", ["tags", "tax"]), ("name", []), (String(repeating: "x", count: 100), []),
        ])
    func nearest(name: String, expected: [String]) {
        #expect(NearestNames.nearest(to: name, among: ["name", "valueInDollars", "tags", "tax"]) == expected)
    }

    @Test(
        "The end of an error message",
        arguments: [
            ("creatItem", "; did you mean 'createItem'?"), ("item", "; did you mean 'items'?"), ("crea", ""),
            ("zzz", ""),
        ])
    func hint(name: String, expected: String) {
        #expect(NearestNames.hint(for: name, among: ["createItem", "items", "images"]) == expected)
    }

    @Test(
        "One slip",
        arguments: [("nmae", "name", true), ("Name", "name", true), ("name", "name", false), ("x", "name", false)])
    func oneSlip(first: String, second: String, expected: Bool) {
        #expect(NearestNames.isOneSlip(first, second) == expected)
    }
}
