import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

@Suite("Formats of declared fields")
struct FieldFormatTests {
    private func shown(_ value: PropertyListValue, _ kind: FieldDeclaration.Kind, _ format: String) -> String? {
        var declaration = FieldDeclaration("f", kind)
        declaration.format = FieldDeclaration.Format(format)
        return declaration.shown(value)
    }

    @Test("amounts have two decimals, unless that would be another number")
    func money() {
        var foreign = ForeignValues(seed: 40)
        for (value, text) in [(0.0, "0.00"), (12.5, "12.50"), (-0.05, "-0.05"), (1622, "1622.00"), (0.1, "0.10")] {
            #expect(shown(.real(value), .real, "money") == text)
        }
        #expect(shown(.integer(-3), .integer, "money") == "-3.00")
        #expect(shown(.real(12.345), .real, "money") == nil)
        #expect(shown(.real(.nan), .real, "money") == nil && shown(.real(1e300), .real, "money") == nil)
        #expect(shown(.string("12"), .real, "money") == nil)
        for _ in 0..<Accounting.values {
            let value = foreign.real()
            if let text = shown(.real(value), .real, "money") { #expect(Double(text) == value) }
        }
    }

    @Test("days and patterns are texts of their dates")
    func dates() throws {
        let date = try #require(ISO8601.parse("2024-02-29T17:30:00Z"))
        #expect(shown(.date(date), .date, "day") == nil)
        #expect(shown(.date(date.startOfDay), .date, "day") == "2024-02-29")
        #expect(shown(.date(date), .date, "dd.MM.yyyy") == "29.02.2024")
        var declaration = FieldDeclaration("f", .date)
        declaration.format = .pattern("dd.MM.yyyy HH:mm")
        #expect(declaration.date("29.02.2024 17:30") == date && declaration.date("2024-02-29") == nil)
        #expect(try declaration.fitted(.date(date)) == .date(date))
        declaration.format = .day
        #expect(try declaration.fitted(.date(date)) == .date(date.startOfDay))
        let before = PropertyListDate(secondsSinceReferenceDate: -0.5)
        #expect(before.startOfDay.secondsSinceReferenceDate == -86400)
    }

    @Test("the day of a new item is one")
    func stamped() throws {
        let store = ItemStore()
        var created = FieldDeclaration("dateCreated", .date)
        created.format = .day
        try store.declare([created])
        let date = try store.createItem().dateCreated
        #expect(date == date.startOfDay)
        #expect(store.declarationNotices.isEmpty)
    }

    @Test("comma-separated values have them, and are read again; what the pattern cuts is counted and said")
    func files() throws {
        let store = ItemStore()
        var (paid, sold) = (FieldDeclaration("paid", .real), FieldDeclaration("sold", .date))
        (paid.format, sold.format) = (.money, .pattern("dd.MM.yyyy"))
        try store.declare([sold, paid])
        let date = try #require(ISO8601.parse("2024-02-29T17:30:00Z"))
        try store.createItem(ItemFields(name: "a", custom: ["paid": .real(12.5), "sold": .date(date)]))
        try store.createItem(ItemFields(name: "b", custom: ["paid": .real(1.125), "sold": .date(date.startOfDay)]))
        try store.createItem(ItemFields(name: "c", custom: ["art": .string("x")]))
        var options = ItemFileOptions(format: .csv)
        var remarks: [String] = []
        options.onRemark = { remarks.append($0) }
        let bytes = try store.exportItems(options)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        // The declared fields come first, in their order.
        #expect(lines[0].hasSuffix("itemKey,sold,paid,art"))
        #expect(lines[1].hasSuffix("29.02.2024,12.50,") && lines[2].hasSuffix("29.02.2024,1.125,"))
        #expect(remarks.count == 1 && remarks[0].hasPrefix("1 date cut to the pattern"))
        let other = ItemStore()
        try other.declare([sold, paid])
        try other.importItems(bytes, path: "f", ItemFileOptions(format: .csv))
        #expect(try other[1]?.value(forField: "sold") == .date(date.startOfDay))
        #expect(try other[1]?.value(forField: "paid") == .real(1.125))
    }
}
