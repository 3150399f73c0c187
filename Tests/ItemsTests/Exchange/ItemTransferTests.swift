import ItemsTestSupport
import PredicateFormat
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// A copy carries each value, or names what it does not carry, and overwrites nothing.
@Suite("Copies of all items")
struct ItemTransferTests {
    let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func uid(_ number: Int) -> PropertyListValue { .uid(UInt32(number)) }

    private func named(_ name: String) -> PropertyListValue {
        .fields(["$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")])])
    }

    /// A container whose items an application wrote, each with objects of some classes.
    private func application(_ count: Int) throws -> ItemStore {
        var objects: [PropertyListValue] = [
            .string("$null"), named("NSArray"), named("Item"), named("NSUUID"), named("Foo"), named("NSDecimalNumber"),
        ]
        func add(_ value: PropertyListValue) -> PropertyListValue {
            objects.append(value)
            return uid(objects.count - 1)
        }
        func decimal(_ mantissa: UInt64, _ exponent: Int64) -> PropertyListValue {
            let bytes = (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: mantissa >> (8 * UInt64($0))) : 0 }
            return add(
                .fields([
                    "NS.mantissa": .data(bytes), "NS.mantissa.bo": .integer(1), "NS.exponent": .integer(exponent),
                    "NS.length": .integer(4), "NS.negative": .boolean(false), "NS.compact": .boolean(true),
                    "$class": uid(5),
                ]))
        }
        var items: [PropertyListValue] = []
        for number in 0..<count {
            items.append(
                add(
                    .fields([
                        "name": add(.string("item \(number)")), "itemKey": add(.string("L\(number)")),
                        "valueInDollars": number == 0 ? decimal(1_234_567_890_123_456_789, -2) : decimal(1250, -2),
                        "room": add(.string("Hall")),
                        "uid": add(
                            .fields(["NS.uuidbytes": .data([UInt8](repeating: 7, count: 16)), "$class": uid(3)])),
                        "foo": add(.fields(["a": .integer(1), "$class": uid(4)])), "$class": uid(2),
                    ])))
        }
        let root = add(.fields(["NS.objects": .array(items), "$class": uid(1)]))
        let archive = PropertyListValue.fields([
            "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"), "$top": .fields(["root": root]),
            "$objects": .array(objects),
        ])
        try folder.write(try archive.encoded(as: .binary), folder.archive)
        return try folder.open()
    }

    @Test("objects and digits that no value has are counted by field, with the first items")
    func objects() throws {
        let source = try application(5)
        let target = ItemStore()
        let copied = try ItemTransfer.copy(from: source, to: target)
        #expect(copied.items == 5)
        #expect(
            copied.remarks.sorted() == [
                "not copied: foo (Foo) of 5 items: \"item 0\", \"item 1\", \"item 2\", …",
                "not copied: uid (NSUUID) of 5 items: \"item 0\", \"item 1\", \"item 2\", …",
                "not copied: valueInDollars (the digits of NSDecimalNumber) of 1 item: \"item 0\"",
            ])
        #expect(try target.item(forKey: "L1")?.value(forField: "room") == .string("Hall"))
        #expect(try target.item(forKey: "L1")?.value(forField: "valueInDollars") == .real(12.5))
        // What was changed here, or removed, is not the archive's any more.
        try source.item(forKey: "L0")?.setValueInDollars(7)
        try source.item(forKey: "L1")?.setValue(.string("text"), forField: "foo")
        try source.item(forKey: "L2")?.remove()
        let rest = try ItemTransfer.copy(from: source, to: ItemStore()).remarks
        #expect(rest.contains("not copied: foo (Foo) of 3 items: \"item 0\", \"item 3\", \"item 4\""))
        #expect(rest.count == 2)
    }

    @Test("an export says the same, of the items and fields that it has")
    func exports() throws {
        let source = try application(2)
        let all = try source.query().carriedNotices(exporting: nil)
        #expect(all.contains("not exported: foo (Foo) of 2 items: \"item 0\", \"item 1\""))
        #expect(all.contains { $0.hasPrefix("not exported: valueInDollars (the digits of NSDecimalNumber) of 1 item") })
        let some = try source.query(FormatPredicate(format: "itemKey = 'L1'"))
            .carriedNotices(exporting: ["name", "uid"])
        #expect(some == ["not exported: uid (NSUUID) of 1 item: \"item 1\""])
    }

    @Test("items that are there with other values are named, and left as they are")
    func differences() throws {
        let source = ItemStore()
        for number in 0..<6 {
            try source.createItem(
                ItemFields(name: "n\(number)", itemKey: "k\(number)", custom: ["size": .real(.nan)]))
        }
        let target = ItemStore()
        #expect(try ItemTransfer.copy(from: source, to: target).remarks.isEmpty)
        #expect(try ItemTransfer.copy(from: source, to: target).remarks.isEmpty)
        for number in 0..<4 { try target.item(forKey: "k\(number)")?.setName("changed") }
        try target.item(forKey: "k4")?.setValue(.string("Hall"), forField: "room")
        let copied = try ItemTransfer.copy(from: source, to: target)
        #expect(copied.items == 0)
        #expect(copied.remarks == ["5 items have other values there: \"n0\", \"n1\", \"n2\", …"])
        #expect(try target.item(forKey: "k0")?.name == "changed")
        #expect(try ItemTransfer.copy(from: target, to: source).remarks.count == 1)
    }

    @Test("fields that are declared otherwise there stay so")
    func declarations() throws {
        let (source, target) = (ItemStore(), ItemStore())
        try source.declare([FieldDeclaration("price", .real)])
        try target.declare([FieldDeclaration("price", .integer)])
        #expect(try ItemTransfer.copy(from: source, to: target).undeclared?.contains("declared there") == true)
        #expect(target.declarations["price"]?.kind == .integer)
    }
}

/// Values side by side differ in their short texts where they differ.
@Suite("Values side by side")
struct ComparedValuesTests {
    @Test(
        "the texts of different values differ, however long they are",
        arguments: [
            (.array([.integer(1)]), .array([.integer(2)])),
            (.data([1, 2, 3]), .data([1, 2, 4])),
            (.data([UInt8](repeating: 1, count: 900) + [1]), .data([UInt8](repeating: 1, count: 900) + [2])),
            (
                .string(String(repeating: "a", count: 500) + "x"),
                .string(String(repeating: "a", count: 500) + "y and more")
            ),
            (.string(String(repeating: "a", count: 50)), .string(String(repeating: "a", count: 51))),
            (.fields(["a": .integer(1), "b": .string("x")]), .fields(["a": .integer(1), "b": .string("y")])),
            (.array([.array([])]), .array([.array([.array([])])])),
            (.integer(5), .string("5")), (.null, .string("nothing")),
        ] as [(PropertyListValue, PropertyListValue)])
    func differ(_ mine: PropertyListValue, _ theirs: PropertyListValue) {
        let texts = ComparedValues.texts([mine, theirs, nil])
        #expect(texts[0] != texts[1])
        #expect(texts.allSatisfy { $0.count <= 42 }, "\(texts)")
        let others = ComparedValues.texts([mine, mine, theirs])
        #expect(others[0] == others[1] && others[1] != others[2])
    }
}
