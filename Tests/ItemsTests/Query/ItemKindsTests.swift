import Items
import PredicateFormat
import PropertyList
import Testing

@Suite("Kinds of fields: comparisons, conversions, descriptions")
struct ItemKindsTests {
    let store = ItemStore()

    private func add(_ field: String, _ values: PropertyListValue?...) throws {
        for value in values { try store.createItem(ItemFields(custom: value.map { [field: $0] } ?? [:])) }
    }

    private func failure(of format: String) -> String? {
        do {
            _ = try store.query(FormatPredicate(format: format)).count()
            return nil
        } catch { return (error as? FormatPredicateError)?.message ?? "\(error)" }
    }

    @Test(
        "a comparison with what no value of a field is says so, and what to do",
        arguments: [
            ("text > 3", "every text is text: items:convert(\"text\", \"integer\")"),
            ("text == 3.5", "every text is text: items:convert(\"text\", \"real\")"),
            ("TRUE == text", "every text is text: items:convert(\"text\", \"boolean\")"),
            ("text IN {1, 2.5}", "every text is text: items:convert(\"text\", \"integer\")"),
            ("text BETWEEN {1, 2}", "every text is text: items:convert(\"text\", \"integer\")"),
            ("number BEGINSWITH 'a'", "every number is a number: items:convert(\"number\", \"string\")"),
            ("name == 'x' OR NOT number == 'a'", "items:convert(\"number\", \"string\")"),
            ("date == 3", "every date is a date: items:convert(\"date\", \"integer\")"),
            ("name > 3", "> never holds between text and a number, in name > 3"),
        ])
    func comparisons(format: String, message: String) throws {
        try add("text", .string("5.875"), .string("x"), nil)
        try add("number", .integer(3), .boolean(true), .real(0.5))
        try add("date", .date(.init(secondsSinceReferenceDate: 0)))
        #expect(failure(of: format)?.contains(message) == true, "\(failure(of: format) ?? "no error")")
    }

    @Test(
        "a conversion is no advice where it makes nothing comparable",
        arguments: [
            "ANY number == 5", "ALL number > 'a'", "NONE text == 'x'", "text.@count > 3",
        ])
    func uselessAdvice(format: String) throws {
        try add("text", .string("x"))
        try add("number", .integer(3))
        let message = try #require(failure(of: format))
        #expect(!message.contains("convert"), "\(message)")
    }

    @Test(
        "other comparisons hold or do not",
        arguments: [
            "number == TRUE", "number > 0.2", "number IN {'a', 3}", "text == nil", "text IN {'x', 3}", "text == number",
            "mixed > 3", "mixed == 'x'", "list == 3", "gone > 3", "gone == 'x'", "date == '2001-01-01'", "text != nil",
        ])
    func others(format: String) throws {
        try add("text", .string("5.875"), .string("x"), nil)
        try add("number", .integer(3), .boolean(true), .real(0.5))
        try add("date", .date(.init(secondsSinceReferenceDate: 0)))
        try add("mixed", .integer(3), .string("x"))
        try add("list", .array([]))
        try add("gone", .string("x"))
        try store.query(FormatPredicate(format: "gone == 'x'")).update(["gone": nil])
        if format == "text == number" { return #expect(failure(of: format)?.contains("never holds") == true) }
        #expect(failure(of: format) == nil)
    }

    @Test("an empty store compares everything")
    func empty() throws {
        try add("text", .string("x"))
        try store.query().remove()
        #expect(failure(of: "text > 3") == nil)
    }

    @Test("a program that asks before it creates: an empty store knows no fields, and finds nothing")
    func emptyFromTheStart() throws {
        let query = try store.query(FormatPredicate(format: "height > 3 AND sha256 == 'x'"))
        #expect(try query.sorted("height").sorted("height * 2").count() == 0)
        #expect(try query.groupBy("room").isEmpty)
        // A field of the domain can be misspelt there, too.
        #expect(throws: FormatPredicateError.self) { try store.query(FormatPredicate(format: "nmae == 'x'")) }
        #expect(throws: StoreError.self) { try store.query().sorted("nmae") }
        try add("height", .integer(4))
        try store.query().update(["sha256": .string("x")])
        #expect(try query.count() == 1)
        #expect(throws: FormatPredicateError.self) { try store.query(FormatPredicate(format: "hieght > 3")) }
    }

    @Test(
        "values are converted",
        arguments: [
            (ItemFieldKind.integer, PropertyListValue.string(" 007 "), PropertyListValue?.some(.integer(7))),
            (.integer, .string("13.0"), .integer(13)), (.integer, .real(13), .integer(13)),
            (.integer, .boolean(true), .integer(1)), (.integer, .string(" "), nil),
            (.real, .string("2006.10"), .real(2006.1)), (.real, .integer(3), .real(3)),
            (.real, .string("-1e3"), .real(-1000)),
            (.boolean, .string("True"), .boolean(true)), (.boolean, .integer(0), .boolean(false)),
            (.date, .string("2001-01-01"), .date(.init(secondsSinceReferenceDate: 0))),
            (.integer, .string("9007199254740993.0"), .integer(9_007_199_254_740_993)),
            (.real, .string("9007199254740994"), .real(9_007_199_254_740_994)), (.real, .string("0e-400"), .real(0)),
            (.string, .real(0.5), .string("0.5")), (.string, .integer(-3), .string("-3")),
            (.string, .boolean(false), .string("false")), (.string, .string(" "), .string(" ")),
            (.string, .date(.init(secondsSinceReferenceDate: 0)), .string("2001-01-01T00:00:00Z")),
        ])
    func conversions(conversion: ItemFieldKind, value: PropertyListValue, result: PropertyListValue?) throws {
        try add("field", value)
        let changes = try store.convert("field", to: conversion)
        #expect(try store.query().first()?.value(forField: "field") == result)
        #expect(changes == (value == result ? 0 : 1))
    }

    @Test(
        "a value that is none of the kind is named, and nothing changes",
        arguments: [
            (ItemFieldKind.integer, PropertyListValue.string("1.5")), (.integer, .string("0x10")),
            (.integer, .real(1e30)),
            (.integer, .string("99999999999999999999")), (.real, .string("inf")), (.real, .string("1e999")),
            (.real, .string("9007199254740993")), (.real, .string("9007199254740993.5")), (.real, .string("1e-400")),
            (.number, .string("9007199254740993.0")), (.number, .string(String(repeating: "9", count: 41))),
            (.number, .string("1e-400")), (.integer, .string("0.99999999999999999")), (.integer, .string("1e-400")),
            (.real, .string("١")), (.real, .array([])), (.boolean, .string("yes")), (.boolean, .integer(2)),
            (.date, .string("1906")), (.date, .real(0)), (.string, .data([1])),
        ])
    func refusals(conversion: ItemFieldKind, value: PropertyListValue) throws {
        if conversion == .date, value == .string("1906") {
            // A year alone is a date in ISO 8601.
            try add("field", value)
            #expect(try store.convert("field", to: conversion) == 1)
            return
        }
        try add("field", .string("1"), .integer(1), value)
        if conversion == .date { try store.query().limit(2).remove() }
        let before = try store.query().all().map { try $0.value(forField: "field") }
        let error = #expect(throws: StoreError.self) { try store.convert("field", to: conversion) }
        let kind = conversion == .integer ? "an integer" : "a \(conversion.rawValue)"
        #expect(error?.message.contains("which is not \(kind): nothing was converted") == true)
        #expect(try store.query().all().map { try $0.value(forField: "field") } == before)
    }

    @Test("a field whose values were converted is one of the new kind, and of the old one after undo")
    func kindsFollow() throws {
        try add("height", .string("5.875"), .string("13.0"))
        try store.createIndex("height")
        try store.commit()
        #expect(failure(of: "height > 3") != nil)
        #expect(try store.convert("height", to: .real) == 2)
        try store.commit()
        #expect(try store.query(FormatPredicate(format: "height > 3")).count() == 2)
        #expect(try store.query(FormatPredicate(format: "height > 6")).count() == 1)
        #expect(failure(of: "height == '13.0'") != nil)
        try store.undo()
        #expect(try store.query(FormatPredicate(format: "height == '13.0'")).count() == 1)
        #expect(throws: StoreError.self) { try store.convert("name", to: .integer) }
        #expect(throws: StoreError.self) { try store.convert("nmae", to: .integer) }
    }

    @Test("what the items have in their fields")
    func descriptions() throws {
        try add("room", .string("b"), .string("a"), .string("b"), nil)
        try add("size", .integer(3), .real(0.5), .integer(3))
        try add("any", .integer(3), .string("x"))
        try add("list", .array([.integer(1)]), .array([.integer(1)]))
        try add("bytes", .data([1]))
        try add("flag", .boolean(true))
        let found = try store.query().describe()
        #expect(Set(found.map(\.field)).isSuperset(of: ["name", "valueInDollars", "dateCreated", "itemKey"]))
        func text(_ value: PropertyListValue?) -> String { value.map { "\($0)" } ?? "-" }
        let texts = found.drop { $0.field != "room" }.map {
            "\($0.field) \($0.kindName) \($0.count) \($0.distinct) \(text($0.min)) \(text($0.max)) \($0.examples.count)"
        }
        #expect(
            texts == [
                "room string 3 2 \(text(.string("a"))) \(text(.string("b"))) 2",
                "size real 3 2 \(text(.real(0.5))) \(text(.integer(3))) 2", "any mixed 2 2 - - 2",
                "list array 2 1 - - 1", "bytes data 1 1 - - 1",
                "flag boolean 1 1 \(text(.boolean(true))) \(text(.boolean(true))) 1",
            ])
        #expect(found.first { $0.field == "room" }?.examples == [.string("b"), .string("a")])
        let few = try store.query(FormatPredicate(format: "room == 'b'")).describe()
        #expect(few.map(\.field).contains("size") == false && few.first { $0.field == "room" }?.count == 2)
        #expect(try store.query(FormatPredicate(format: "room == 'z'")).describe().isEmpty)
    }
}
