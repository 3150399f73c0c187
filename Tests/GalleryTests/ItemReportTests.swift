import Foundation
import Images
import Items
import Logging
import PropertyList
import TestSupport
import Testing

@testable import Gallery

/// The page to hand over, by its HTML.
@Suite("Report")
struct ItemReportTests {
    private let scratch: TemporaryDirectory
    private let store = ItemStore()
    private let images: ImageStore

    init() throws {
        scratch = try TemporaryDirectory()
        images = ImageStore(
            directory: scratch.file("Documents"), caches: scratch.file("Caches"),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        for folder in ["Documents", "Caches"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        store.attachments = images.attachments
    }

    @discardableResult
    private func add(_ name: String, _ dollars: Int64 = 0, _ values: PropertyListFields = [:]) throws -> Item {
        var fields = ItemFields(name: name)
        fields.valueInDollars = dollars
        fields.dateCreated = ISO8601.parse("2024-01-31")
        for (name, value) in values { try fields.set(value, forField: name) }
        return try store.createItem(fields)
    }

    private func picture(_ side: Int, shade: UInt8 = 90) -> BitmapImage {
        BitmapImage(
            pixels: ImagePixels(
                width: side, height: side, channels: 3, bytes: [UInt8](repeating: shade, count: side * side * 3)))
    }

    private func report(
        _ change: (inout ItemReport.Options) -> Void = { _ in }, progress: (Int) throws -> Void = { _ in }
    ) throws -> (html: String, summary: ItemReport.Summary) {
        var options = ItemReport.Options()
        options.date = "2026-01-31"
        change(&options)
        var bytes: [UInt8] = []
        let summary = try ItemReport(images: images, options).write(store.allItems, progress: progress) {
            bytes.append(contentsOf: $0)
        }
        return (String(decoding: bytes, as: UTF8.self), summary)
    }

    /// The text of the page's elements, a line each, without the head.
    private func lines(_ html: String) -> [String] {
        let body = html.components(separatedBy: "<body>").last ?? ""
        return body.replacing(#/<[^>]*>/#, with: "\n").split(separator: "\n").map {
            String($0).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        }
    }

    @Test("items are in groups, with sums, numbers and what they have")
    func sections() throws {
        try add("Lamp", 1_200, ["room": .string("Study"), "tags": .array([.string("old"), .integer(2)])])
        try add("Bear", 34, ["room": .string("Attic")])
        try add("", 0)
        try add(
            "Desk", 1, ["room": .string("Study"), "bought": .date(try #require(ISO8601.parse("2001-02-03T04:05:06Z")))])
        let (html, summary) = try report { $0.title = "Things" }
        #expect(summary.items == 4 && summary.pictures == 0 && summary.failures.isEmpty)
        #expect(
            lines(html) == [
                "Things", "4 items · $1,235 · 2026-01-31", "Totals by room", "room", "items", "valueInDollars", "Attic",
                "1", "$34", "Study", "2", "$1,201", "(no room)", "1", "$0", "Total", "4", "$1,235",
                "Attic ", "1 item · $34", "No.", "Item", "valueInDollars", "1", "Bear", "dateCreated", "2024-01-31",
                "$34",
                "Study ", "2 items · $1,201", "No.", "Item", "valueInDollars", "2", "Lamp", "dateCreated", "2024-01-31",
                "tags", "old, 2", "$1,200", "3", "Desk", "dateCreated", "2024-01-31", "bought", "2001-02-03 04:05…",
                "$1",
                "(no room) ", "1 item · $0", "No.", "Item", "valueInDollars", "4", "(no name)", "dateCreated",
                "2024-01-31", "$0",
            ])
        #expect(try report { $0.title = "Things" }.html == html, "the same items, the same bytes")
    }

    @Test("the moments of one import are left out, dates of things are not")
    func importDates() throws {
        func hasDates(_ texts: [String], columns: [String]? = nil) throws -> Bool {
            try store.removeItems(store.allItems)
            for (place, text) in texts.enumerated() {
                var fields = ItemFields(name: "Thing \(place)")
                fields.dateCreated = ISO8601.parse(text)
                try store.createItem(fields)
            }
            return try report { $0.columns = columns }.html.contains("dateCreated")
        }
        let imported = ["2026-01-31T10:00:00.25Z", "2026-01-31T10:00:01Z"]
        #expect(try !hasDates(imported))
        #expect(try hasDates(imported, columns: ["dateCreated"]))
        // A thing's day, another day, one item that somebody has made.
        #expect(try hasDates(["2026-01-31", "2026-01-31T10:00:01Z"]))
        #expect(try hasDates(imported + ["2026-02-01T10:00:00Z"]))
        #expect(try hasDates(["2026-01-31T10:00:00Z"]))
    }

    @Test("nothing of an item is markup, in no place")
    func escaping() throws {
        let evil = "</style><script>alert(1)</script>\"'&\u{202E}\u{0}<\u{301}b>"
        try add(evil, 1, ["room": .string(evil), evil: .string(evil + "\nsecond line")])
        try add("plain", 2, ["room": .string("b"), evil: .array([.string(evil)])])
        let item = try #require(store[0])
        try images.setImage(picture(4), forKey: item.itemKey)
        let (html, _) = try report {
            ($0.title, $0.date, $0.condition, $0.group) = (evil, evil, evil, evil)
        }
        #expect(!html.contains("<script") && !html.contains("<\u{301}") && !html.utf8.contains(0))
        #expect(html.unicodeScalars.allSatisfy { $0 != "\u{202E}" })
        #expect(html.components(separatedBy: "</style>").count == 2)
        // The page of harmless items has the same elements.
        let tags = html.matches(of: #/<\/?[a-z0-9]+/#).map { String($0.output) }.sorted()
        try store.removeItem(item)
        try store.removeItem(try #require(store[0]))
        try add("a", 1, ["room": .string("a"), "x": .string("y")])
        try add("b", 2, ["room": .string("b"), "x": .string("z")])
        try images.setImage(picture(4), forKey: try #require(store[0]).itemKey)
        let plain = try report { ($0.condition, $0.group) = ("x", "x") }.html
        #expect(tags == plain.matches(of: #/<\/?[a-z0-9]+/#).map { String($0.output) }.sorted())
        #expect(html.contains("Content-Security-Policy") && !html.contains("http:"))
    }

    @Test("pictures are inside, sized for paper; one that cannot be read is said, on the page and in the outcome")
    func pictures() throws {
        let (a, b, c) = (try add("A"), try add("B"), try add("C"))
        try images.setImages([picture(900), picture(8), picture(8, shade: 7)], forKey: a.itemKey)
        try scratch.write("no picture", to: "Documents/\(try b.itemKey)")
        try images.setImage(picture(40), forKey: c.itemKey)
        var told: [Int] = []
        let (html, summary) = try report(progress: { told.append($0) })
        #expect((summary.items, summary.pictures) == (3, 4))
        #expect(summary.failures.keys.sorted() == [try b.itemKey])
        // The headers of the pictures are read before the heading is written.
        #expect(told == [0, 0, 0, 1, 2, 3])
        #expect(lines(html).contains("3 items · 5 pictures, 1 of them cannot be read · 2026-01-31"))
        #expect(lines(html).contains("(the picture cannot be read)"))
        let sources = html.matches(of: #/src="data:image\/jpeg;base64,([^"]*)"/#).map { String($0.output.1) }
        let sides = try sources.map { try BitmapImage(bytes: Array(try #require(Data(base64Encoded: $0)))).width }
        #expect(sides == [320, 8, 8, 40])
        #expect(html.utf8.count < 20_000)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try report(progress: { _ in throw Stop() }) }
    }

    @Test("each of an item's pictures that fails is told, and one that is not there is missing")
    func failures() throws {
        let item = try add("A")
        try images.setImages((1...4).map { picture(8, shade: UInt8($0)) }, forKey: item.itemKey)
        let paths = images.pictureFiles(forKey: try item.itemKey).map(\.path)
        try FileManager.default.removeItem(atPath: paths[0])
        for path in paths[1...2] { try Data("no picture".utf8).write(to: URL(fileURLWithPath: path)) }
        let (html, summary) = try report()
        let key = try item.itemKey
        #expect(summary.failures.keys.sorted() == [key, "\(key), picture 2", "\(key), picture 3"])
        let text = lines(html)
        #expect(text.contains("1 item · 4 pictures, 3 of them cannot be read · 2026-01-31"))
        #expect(text.count { $0 == "(the picture is missing)" } == 1)
        #expect(text.count { $0 == "(the picture cannot be read)" } == 2)
    }

    @Test("a text is another group than the number that is written like it, and moments are apart")
    func groups() throws {
        let values: [PropertyListValue] = [.integer(5), .string("5"), .real(5), .boolean(true), .string("yes")]
        for value in values { try add("a", 1, ["x": value]) }
        for text in ["2024-01-31T10:30:01Z", "2024-01-31T10:30:02Z"] {
            try add("b", 1, ["x": .date(try #require(ISO8601.parse(text)))])
        }
        let text = lines(try report { $0.group = "x" }.html)
        for line in ["5", "&quot;5&quot;", "yes", "&quot;yes&quot;", "2024-01-31T10:30:01Z", "2024-01-31T10:30:02Z"] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
        let place = try #require(text.firstIndex(of: "5"))
        #expect(text.contains("5 ") && text[place + 1] == "2")
    }

    @Test("the field of the groups and of the values can be chosen; a field that no item has is refused")
    func choices() throws {
        for number in 0..<6 {
            try add(
                "N\(number)", 0,
                [
                    "kind": .string(number < 4 ? "x" : "y"), "price": .real(Double(number) + 0.1),
                    "year": .integer(9 + Int64(number % 2)),
                ])
        }
        // Without a value that is not zero there is none; the first field of few values groups.
        let plain = try report()
        #expect(plain.html.contains("Totals by kind") && !plain.html.contains("valueInDollars</th>"))
        let chosen = try report { ($0.value, $0.group, $0.columns) = ("price", "year", ["kind"]) }.html
        let text = lines(chosen)
        #expect(text.contains("6 items · 15.60 · 2026-01-31") && text.contains("Totals by year"))
        #expect(try #require(text.firstIndex(of: "9")) < text.firstIndex(of: "10") ?? 0)
        #expect(text.contains("5.10") && !text.contains("dateCreated"))
        let none = try report { ($0.value, $0.group) = ("", "") }.html
        #expect(!none.contains("<h2>") && none.contains("price"))
        for change in [{ $0.group = "kinds" }, { $0.value = "kinds" }, { $0.columns = ["kinds"] }]
            as [(inout ItemReport.Options) -> Void]
        {
            let error = #expect(throws: StoreError.self) { try report(change) }
            #expect(error?.message.hasPrefix("none of the items has a field kinds") == true)
        }
    }

    @Test("declared money is the value if nothing else is, and values have their declared formats")
    func declared() throws {
        var paid = FieldDeclaration("paid", .real)
        paid.format = .money
        var sold = FieldDeclaration("sold", .date)
        sold.format = .pattern("dd.MM.yyyy")
        try store.declare([sold, paid, FieldDeclaration("area", .string)])
        let day = try #require(ISO8601.parse("2024-03-02"))
        try add("Desk", 0, ["paid": .real(1_200), "sold": .date(day), "area": .string("x")])
        let text = lines(try report().html)
        #expect(text.contains("1 item · 1,200.00 · 2026-01-31") && text.contains("paid"))
        #expect(text.suffix(5) == ["sold", "02.03.2024", "area", "x", "1,200.00"])
    }

    @Test("a page of no items is a page")
    func empty() throws {
        #expect(lines(try report().html) == ["Items", "0 items · 2026-01-31"])
    }

    @Test("sums are exact, and what is not a number is not in them")
    func sums() {
        var sum = ReportSum()
        for _ in 0..<10 { sum.add(.real(0.1)) }
        #expect(sum.text("") == "1.00")
        sum.add(.integer(.max))
        #expect(sum.text("$") == "$9,223,372,036,854,775,808.00")
        sum.add(.real(-0.25))
        #expect(sum.text("$") == "$9,223,372,036,854,775,807.75")
        for value: PropertyListValue? in [.string("5"), .real(.nan), .single(.infinity), nil] { sum.add(value) }
        #expect((sum.misfits, sum.count) == (3, 12))
        var small = ReportSum()
        small.add(.real(-0.05))
        #expect(small.text("$") == "-$0.05")
        var fine = ReportSum()
        fine.add(.real(0.125))
        #expect(fine.text("") == "0.125")
        var wide = ReportSum()
        wide.add(.wideInteger(.max))
        #expect(wide.text("") == "170,141,183,460,469,231,731,687,303,715,884,105,727")
        wide.add(.integer(1))
        #expect(wide.text("") == "≈1.7014118346046923e+38")
        var mixed = ReportSum()
        for value in [0.1, 0.2, 0.125] { mixed.add(.real(value)) }
        #expect(mixed.text("$") == "$0.425")
        mixed.add(.single(0.1))
        #expect(mixed.text("") == "0.525")
        mixed.add(.real(1e300))
        #expect(mixed.text("") == "≈1e+300")
    }

    @Test("values have one text each")
    func texts() throws {
        let values: [(PropertyListValue?, String)] = [
            (nil, ""), (.string("a"), "a"), (.boolean(true), "yes"), (.integer(1906), "1906"), (.real(13), "13"),
            (.real(1.5), "1.5"), (.data([1, 2]), "2 bytes"), (.array([.integer(1), .null]), "1, "),
            (.fields(["w": .integer(3), "h": .string("x")]), "h: x, w: 3"),
            (.date(try #require(ISO8601.parse("2024-01-31"))), "2024-01-31"),
            (.date(try #require(ISO8601.parse("2024-01-31T10:30:00Z"))), "2024-01-31 10:30"),
            (.date(try #require(ISO8601.parse("2024-01-31T10:30:01Z"))), "2024-01-31 10:30…"),
        ]
        for (value, text) in values { #expect(ReportText.of(value) == text) }
    }
}
