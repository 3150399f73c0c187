import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Of N records that other programs write, N become items with all values, or are rejected by name, or the report counts
/// what was left out; what is exported is imported again without a change.
@Suite("JSON Lines account for their values")
struct JSONLinesAccountingTests {
    @Test("numbers, null, equal keys: exact, or counted")
    func cases() throws {
        let store = ItemStore()
        let lines = """
            {"name":"A","a":9223372036854775807,"b":18446744073709551615,"c":1234567890123456789012,"d":675127116845989888}
            {"name":"B","a":1,"a":2}
            {"name":"C","tags":[1,null,"x"],"deep":{"x":null,"y":[{"z":null}]},"gone":null}
            """
        let report = try store.importReport(Array(lines.utf8), path: "f", ItemFileOptions(format: .jsonLines))
        #expect((report.created, report.count(.duplicateKeys), report.count(.nulls)) == (3, 1, 3))
        let (a, b, c) = (try #require(store[0]), try #require(store[1]), try #require(store[2]))
        #expect(try a.value(forField: "b") == .wideInteger(18_446_744_073_709_551_615))
        #expect(try a.value(forField: "c") == .wideInteger(1_234_567_890_123_456_789_012))
        #expect(try a.value(forField: "d") == .integer(675_127_116_845_989_888))
        #expect(try b.value(forField: "a") == .integer(2))
        #expect(try c.value(forField: "tags") == .array([.integer(1), .null, .string("x")]))
        #expect(try c.value(forField: "deep") == .dictionary(["y": .array([.dictionary([:])])]))
        #expect(try c.value(forField: "gone") == nil)
        let exported = String(decoding: try store.exportItems(ItemFileOptions(format: .jsonLines)), as: UTF8.self)
        #expect(exported.contains(#""b":18446744073709551615,"c":1234567890123456789012,"d":675127116845989888"#))
    }

    @Test("a number that is none is refused with line and column, and one that cannot be written with item and field")
    func noNumbers() throws {
        let store = ItemStore()
        let options = ItemFileOptions(format: .jsonLines)
        for (line, message) in [
            (#"{"name":"A"}\#n{"name":"A","x":NaN}"#, "f, row 2: not JSON: column 17: NaN is not a JSON value"),
            (#"{"x":-Infinity}"#, "f, row 1: not JSON: column 6: -Infinity is not a JSON value"),
            (#"{"x":1e400}"#, "f, row 1: not JSON: column 6: “1e400” is larger than any number here"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try store.importReport(Array(line.utf8), path: "f", options)
            }
            #expect(error?.message.hasPrefix(message) ?? false, "\(error?.message ?? "")")
        }
        let item = try store.createItem()
        try item.setValue(.string("Lamp"), forField: "name")
        try item.setValue(.array([.real(.infinity)]), forField: "x")
        for format in [ItemFileFormat.json, .jsonLines, .csv] {
            let error = #expect(throws: StoreError.self) { try store.exportItems(ItemFileOptions(format: format)) }
            #expect(error?.message == "item 'Lamp', itemKey \(try item.itemKey), field x: [1]: JSON has no inf")
        }
    }

    /// Whether values have the same JSON, or are the same whole number in two kinds.
    private static func isEqual(_ value: PropertyListValue?, _ again: PropertyListValue?) throws -> Bool {
        if case .real(let real)? = value, case .integer(let integer)? = again { return Int64(exactly: real) == integer }
        return try value?.json() == again?.json()
    }

    @Test("exported items are imported again unchanged", arguments: [ItemFileFormat.jsonLines, .json])
    func again(_ format: ItemFileFormat) throws {
        let store = ItemStore()
        var values = ForeignValues(seed: 39)
        let count = Accounting.values / 10
        for index in 0..<count {
            let item = try store.createItem()
            try item.setValue(.string("item \(index)"), forField: "name")
            try item.setValue(.date(PropertyListDate(secondsSinceReferenceDate: values.seconds())), forField: "at")
            for field in ["n", "r", "w", "v"] {
                let integer = values.integer()
                let value: PropertyListValue =
                    switch field {
                    case "n": .integer(Int64(truncatingIfNeeded: integer))
                    case "r": .real(values.real())
                    case "w": Int64(exactly: integer).map { .integer($0) } ?? .wideInteger(integer)
                    default:
                        .array([.single(Float(values.random.number(100)) / 3), .boolean(true), .string(values.text())])
                    }
                try item.setValue(value, forField: field)
            }
        }
        var options = ItemFileOptions(format: format)
        let file = try store.exportItems(options)
        let other = ItemStore()
        options.kinds = .named(["at": .date])
        #expect(try other.importReport(file, path: "f", options).created == count)
        for index in 0..<count {
            let (item, copy) = (try #require(store[index]), try #require(other[index]))
            for field in ["name", "dateCreated", "at", "n", "r", "w", "v"] {
                let (value, again) = (try item.value(forField: field), try copy.value(forField: field))
                #expect(try Self.isEqual(value, again), "\(field)")
            }
        }
        (options.key, options.updates) = (["itemKey"], true)
        #expect(try store.importReport(file, path: "f", options).rejected == 0)
        #expect(try store.exportItems(ItemFileOptions(format: format)) == file)
    }
}
