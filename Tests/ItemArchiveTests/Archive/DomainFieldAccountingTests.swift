import Files
import ItemsTestSupport
import KeyedArchive
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Archives as other programs write them: each field of every item as a decimal, a real, a text, a truth value, a wide
/// integer, a date, an array, nil, or without a key. Each value is carried as it is: read, found, saved, copied and
/// written to the journal equal, and counted if it is not of its field's kind.
@Suite("Fields of every item in other programs' archives")
struct DomainFieldAccountingTests {
    private static let names = ["name", "serialNumber", "valueInDollars", "dateCreated"]

    /// What an archive has for a field, and what is read.
    private struct Entry {
        var stored: ArchivedObject.FieldValue?
        var value: PropertyListValue?
    }

    /// The items of an archive, by field.
    private typealias Record = [String: Entry]

    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    // MARK: Making them

    private static func entry(_ field: String, _ values: inout ForeignValues) -> Entry {
        func object(_ value: PropertyListValue) -> Entry {
            Entry(stored: .object(ArchiveValue(propertyList: value)), value: value)
        }
        func inline(_ value: PropertyListValue) -> Entry { Entry(stored: .inline(value), value: value) }
        func usual() -> Entry {
            switch field {
            case "valueInDollars": inline(.integer(Int64(values.random.number(200)) - 50))
            case "dateCreated": object(.date(PropertyListDate(secondsSinceReferenceDate: values.seconds())))
            default: object(.string(values.text()))
            }
        }
        switch values.random.number(14) {
        case 0, 1, 2, 3: return usual()
        case 4: return Entry(stored: nil, value: nil)
        case 5: return Entry(stored: .object(nil), value: nil)
        case 6: return decimal(&values)
        case 7: return inline(.real(values.real()))
        case 8: return inline(.boolean(values.random.number(2) == 0))
        case 9:
            let wide = values.integer()
            return object(Int64(exactly: wide).map { .integer($0) } ?? .wideInteger(wide))
        case 10: return object(.string(values.text()))
        case 11: return object(.real(values.real()))
        case 12: return object(.date(PropertyListDate(secondsSinceReferenceDate: values.seconds())))
        default:
            return values.random.number(2) == 0
                ? object(.array([.string("a"), .integer(1)])) : object(.data([1, 2, UInt8(values.random.number(9))]))
        }
    }

    private static func decimal(_ values: inout ForeignValues) -> Entry {
        var decimal = ArchivedDecimal(
            mantissa: UInt128(values.random.next()) << UInt128(values.random.number(60)),
            exponent: Int8(values.random.number(40) - 30), isNegative: values.random.number(2) == 0)
        if values.random.number(2) == 0 {
            decimal = ArchivedDecimal(
                mantissa: UInt128(values.random.number(10_000)), exponent: -2, isNegative: decimal.isNegative)
        }
        // An independent reading of the digits.
        let text = decimal.description
        let parts = text.split(separator: ".")
        let isWhole = parts.count < 2 || parts[1].allSatisfy { $0 == "0" }
        let whole = isWhole ? Int128(parts[0]) : nil
        let value: PropertyListValue =
            whole.map { whole in Int64(exactly: whole).map { .integer($0) } ?? .wideInteger(whole) }
            ?? .real(Double(text) ?? .nan)
        return Entry(stored: .object(.value(.decimal(decimal))), value: value)
    }

    private static func records(_ count: Int, seed: UInt64) -> [Record] {
        var values = ForeignValues(seed: seed)
        return (0..<count).map { _ in
            Record(uniqueKeysWithValues: names.map { ($0, entry($0, &values)) })
        }
    }

    private static func archive(_ records: [Record]) throws -> [UInt8] {
        let items = records.enumerated().map { index, record in
            let object = ArchivedObject(ArchivedClass("BNRItem"))
            for name in names { object[name] = record[name]?.stored }
            object["itemKey"] = .object(.string("KEY-\(index)"))
            return ArchiveValue.unknown(object)
        }
        let graph = ArchiveGraph(root: .collection(ArchivedCollection(elements: items)))
        defer { graph.dismantle() }
        return try graph.encoded()
    }

    /// Runs a body with an own folder for every thousand values.
    private static func forEachBatch(_ body: (StoreFolder, [Record]) throws -> Void) throws {
        for batch in 0..<max(Accounting.values / 1_000, 1) {
            try body(try StoreFolder(), records(250, seed: UInt64(batch)))
        }
    }

    // MARK: Comparing

    private static func isUsual(_ value: PropertyListValue?, _ field: String) -> Bool {
        switch (field, value) {
        case ("name", .string?), ("serialNumber", .string?), ("serialNumber", nil), ("valueInDollars", .integer?),
            ("dateCreated", .date?):
            true
        // All programs read the same integer.
        case (_, .real(let real)?): field == "valueInDollars" && Int64(exactly: real) != nil
        default: false
        }
    }

    /// The number of values that are not those of the records, item by item.
    private static func differences(_ store: ItemStore, _ records: [Record], from start: Int = 0) throws -> [String] {
        var found: [String] = []
        for (index, record) in records.enumerated() {
            let item = try #require(store[start + index])
            for name in names {
                let value = try item.value(forField: name)
                if !ItemObjectEditor.areSame(value, record[name]?.value) {
                    found.append(
                        "\(index).\(name): \(String(describing: value)), not \(String(describing: record[name]))")
                }
            }
        }
        return found
    }

    private static func isSame(_ old: [UInt8], _ new: [UInt8]) throws -> [String] {
        var difference = TreeDifference(
            try ArchiveTree(PropertyListStorage(old)), try ArchiveTree(PropertyListStorage(new)))
        var places: [String] = []
        return difference.compare { places.append("\($0)") } ? [] : places + ["different"]
    }

    private static func expectNone(_ differences: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let first = Array(differences.prefix(3))
        #expect(first == [], sourceLocation: sourceLocation)
    }

    // MARK: Tests

    @Test("are read, found and counted as they are, and are the same after a save, object for object")
    func carried() throws {
        try Self.forEachBatch { folder, records in try carried(folder, records) }
    }

    private func carried(_ folder: StoreFolder, _ records: [Record]) throws {
        let original = try Self.archive(records)
        try folder.write(original, folder.archive)
        var store = try folder.open()
        Self.expectNone(try Self.differences(store, records))
        #expect(store.loadReport.notices == [])

        #expect(
            ItemArchiveReader.notices(on: original, .household) == store.misfits().map(\.description)
                + store.loadReport.remarks)

        // The notices count right.
        let misfits = store.misfits()
        for name in Self.names {
            let count = records.count { !Self.isUsual($0[name]?.value, name) }
            let told = misfits.first { $0.field == name }
            #expect(told?.count ?? 0 == count, "\(name)")
            #expect(told?.examples.count ?? 0 == min(count, 3))
            let absent = records.count { $0[name]?.value == nil }
            #expect(try store.query(FormatPredicate(format: "\(name) == nil")).count() == absent, "\(name)")
            #expect(try store.query().groupBy(name).reduce(0) { $0 + $1.count } == records.count)
            #expect(try store.query().sorted(name).count() == records.count)
        }
        // A value is found.
        for record in records.prefix(100) {
            guard case .real(let real)? = record["valueInDollars"]?.value else { continue }
            let predicate = try FormatPredicate(format: "valueInDollars == $v", variables: ["v": .real(real)])
            let expected = records.count {
                switch $0["valueInDollars"]?.value {
                case .real(let other)?: other == real
                case .integer(let other)?: Int64(exactly: real) == other
                default: false
                }
            }
            #expect(try store.query(predicate).count() >= max(expected, 1))
        }

        let other = try store.createItem(ItemFields(name: "new"))
        try store.saveChanges()
        try store.removeItem(other)
        try store.saveChanges()
        #expect(try Self.isSame(original, try folder.read(folder.archive)).prefix(3) == [])
        store = try folder.open()
        Self.expectNone(try Self.differences(store, records))
    }

    @Test("a copy, an undone removal and a reordering bring them to the journal, and from there to the archive")
    func journal() throws {
        try Self.forEachBatch { folder, records in try journal(folder, records) }
    }

    private func journal(_ folder: StoreFolder, _ records: [Record]) throws {
        try folder.write(try Self.archive(records), folder.archive)
        var store = try folder.open()
        try store.commit()
        let items = store.allItems
        for item in items { _ = try item.copy() }
        try store.commit()
        for item in items { try store.removeItem(item) }
        try store.commit()
        #expect(try store.undo())
        try store.moveItem(from: 0, to: 1)
        try store.moveItem(from: 1, to: 0)
        try store.commit()
        Self.expectNone(try Self.differences(store, records))
        Self.expectNone(try Self.differences(store, records, from: records.count))

        // The journal's header tells older programs.
        let header = try folder.read(folder.journal).withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
        #expect(header.version == JournalHeader.carryingVersion)
        store = try folder.open()
        #expect(store.loadReport.notices == [] && store.loadReport.replayedRecords > 0)
        Self.expectNone(try Self.differences(store, records))
        Self.expectNone(try Self.differences(store, records, from: records.count))

        try store.saveChanges()
        store = try folder.open()
        #expect(store.loadReport.replayedRecords == 0)
        Self.expectNone(try Self.differences(store, records))
        Self.expectNone(try Self.differences(store, records, from: records.count))
        // A copy has the decimals' own objects.
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        defer { graph.dismantle() }
        let decimals = graph.root?.elements?.map { item -> ArchivedDecimal? in
            guard case .unknown(let object)? = item,
                case .object(.value(.decimal(let decimal))?)? = object["valueInDollars"]
            else { return nil }
            return decimal
        }
        #expect(decimals.map { Array($0.prefix(records.count)) == Array($0.suffix(records.count)) } == true)
    }

    @Test("digits that a float does not have, and objects that no field holds, are said, and kept")
    func remarks() throws {
        let money = ArchivedObject(ArchivedClass("Money"), fields: [.init(key: "cents", value: .inline(.integer(5)))])
        let long = ArchivedDecimal(mantissa: 1_234_567_890_123_456_725, exponent: -2)
        let entries: [ArchivedObject.FieldValue] = [
            .object(.value(.decimal(long))), .object(.unknown(money)),
            .object(.value(.decimal(ArchivedDecimal(mantissa: 1_200, exponent: -2)))),
        ]
        let date = Entry(stored: .object(.date(PropertyListDate(secondsSinceReferenceDate: 5))))
        let original = try Self.archive(
            entries.enumerated().map { index, entry in
                [
                    "name": Entry(stored: .object(.string("n\(index)"))), "dateCreated": date,
                    "valueInDollars": Entry(stored: entry),
                ]
            })
        try folder.write(original, folder.archive)
        let store = try folder.open()
        let values = try store.allItems.map { try $0.value(forField: "valueInDollars") }
        #expect(values == [.real(12_345_678_901_234_567.25), nil, .integer(12)])
        #expect(store.misfits().map(\.count) == [1])
        let remarks = store.loadReport.remarks
        #expect(remarks.count == 2)
        #expect(remarks.first?.contains("in 1 item: 12345678901234567.25 in \"n0\"") == true, "\(remarks)")
        #expect(remarks.last?.contains("in 1 item: of class Money in \"n1\"") == true, "\(remarks)")
        try store.removeItem(try store.createItem())
        try store.saveChanges()
        #expect(try Self.isSame(original, try folder.read(folder.archive)) == [])
        // An import carries or refuses by name.
        let target = ItemStore()
        #expect(throws: StoreError.self) {
            try target.importItems(original, path: "a", ItemFileOptions(format: .keyedArchive))
        }
        #expect(target.count == 0)
    }

    @Test("an index finds and sorts them as a scan does, also when the last one goes and comes back")
    func indexes() throws {
        let records = Self.records(200, seed: 9)
        try folder.write(try Self.archive(records), folder.archive)
        func results(_ store: ItemStore) throws -> [[String]] {
            try Self.names.flatMap { name in
                let queries = try [
                    store.query().sorted(name), store.query().sorted(name, descending: true).limit(20),
                    store.query(FormatPredicate(format: "\(name) == nil")),
                    store.query(FormatPredicate(format: "\(name) > 10 OR \(name) == 'a'")),
                ]
                return try queries.map { try $0.all().map { try $0.itemKey } }
            }
        }
        let (store, other) = (try folder.open(isReadOnly: true), try folder.open())
        for name in Self.names { _ = try other.createIndex(name) }
        #expect(try results(store) == results(other))

        // Only values that fit, then an index, then the others again.
        try other.commit()
        let keys = try other.allItems.map { try $0.itemKey }
        for name in Self.names {
            _ = other.dropIndex(name)
            for item in other.allItems {
                let value: PropertyListValue =
                    switch name {
                    case "valueInDollars": .integer(3)
                    case "dateCreated": .date(PropertyListDate(secondsSinceReferenceDate: 3))
                    default: .string("a")
                    }
                try item.setValue(value, forField: name)
            }
        }
        try other.commit()
        #expect(other.misfits() == [])
        for name in Self.names {
            _ = try other.createIndex(name)
            #expect(try other.query().sorted(name).all().map { try $0.itemKey } == keys)
        }
        #expect(try other.undo())
        #expect(try results(store) == results(other))
    }

    @Test("a mapped archive gets them from its journal; an archive that has some gets no index")
    func mapped() throws {
        var store = try folder.open(mapped: true)
        for number in 0..<20 { try store.createItem(ItemFields(name: "item \(number)", valueInDollars: Int64(number))) }
        try store.saveChanges()
        #expect(try !folder.read(folder.index).isEmpty)
        store = try folder.open(mapped: true)
        try store.apply([
            .insert(["itemKey": .string("k"), "name": .null, "valueInDollars": .real(12.5), "dateCreated": .null])
        ])
        func check() throws {
            let item = try #require(store.item(forKey: "k"))
            #expect(try item.value(forField: "valueInDollars") == .real(12.5))
            #expect(try item.value(forField: "name") == nil && item.value(forField: "dateCreated") == nil)
            #expect(throws: StoreError.self) { try item.dateCreated }
            for (text, count) in [
                ("valueInDollars == 12.5", 1), ("dateCreated == nil", 1), ("name == nil", 1), ("valueInDollars < 5", 5),
                ("name BEGINSWITH 'item'", 20), ("name CONTAINS '1'", 11), ("valueInDollars * 2 == 25", 1),
            ] {
                #expect(try store.query(FormatPredicate(format: text)).count() == count, "\(text)")
            }
            #expect(try store.query().sum("valueInDollars") == .real(202.5))
            #expect(try store.query().min("valueInDollars") == .integer(0))
            #expect(try store.query().sorted("name").first() === item)
            #expect(store.misfits().map(\.field) == ["name", "valueInDollars", "dateCreated"])
        }
        try check()
        store = try folder.open(mapped: true)
        #expect(store.loadReport.archivedItems == 20 && store.loadReport.replayedRecords == 1)
        try check()
        try store.saveChanges()
        #expect(throws: (any Error).self) { try folder.read(folder.index) }
        store = try folder.open(mapped: true)
        #expect(store.loadReport.archivedItems == 21)
        try check()
    }

    @Test("an archive that is written from the fields has them, too")
    func rewritten() throws {
        try Self.forEachBatch { folder, records in try rewritten(folder, records) }
    }

    private func rewritten(_ folder: StoreFolder, _ records: [Record]) throws {
        let original = try Self.archive(records)
        func read(_ bytes: [UInt8]) throws -> (ItemStore, ArchiveSchema) {
            let store = ItemStore()
            var reader = ItemArchiveReader(
                ItemLoader(store.columns), try BinaryPropertyListReader(bytes), ArchiveIdentity(of: bytes))
            try reader.read()
            reader.keepForeign()
            #expect(reader.report.damage == [])
            return (store, reader.report.schema)
        }
        let (store, schema) = try read(original)
        Self.expectNone(try Self.differences(store, records))
        let bytes = try ItemArchiveWriter(ItemSnapshot(store.columns), schema).bytes()
        let (other, _) = try read(bytes)
        Self.expectNone(try Self.differences(other, records))
        // The decimals keep their digits.
        let digits = { (bytes: [UInt8]) throws -> [String] in
            let graph = try ArchiveGraph(bytes)
            defer { graph.dismantle() }
            return (graph.root?.elements ?? []).map { item in
                guard case .unknown(let object)? = item else { return "" }
                return Self.names.map { name in
                    if case .object(.value(.decimal(let decimal))?)? = object[name] { "\(decimal)" } else { "" }
                }.joined(separator: "|")
            }
        }
        #expect(try digits(original) == digits(bytes))
    }

    @Test("records of shared collections and of whole items have them")
    func wholeRecords() throws {
        try Self.forEachBatch { folder, records in try wholeRecords(folder, records) }
    }

    private func wholeRecords(_ folder: StoreFolder, _ records: [Record]) throws {
        try folder.write(try Self.archive(records), folder.archive)
        let snapshot = ItemSnapshot(try folder.open().columns)
        let (copied, loaded, changed) = (ItemStore(), ItemStore(), ItemStore())
        for position in 0..<snapshot.count {
            var writer = RecordWriter()
            writer.item(snapshot, at: position)
            try writer.bytes.withBytes { bytes throws(StoreError) in
                _ = try ItemLoader(copied.columns).addRecord(bytes)
                guard case .insert(_, let values, _)? = try RecordChange.changes(of: bytes, .household).first else {
                    return
                }
                try ItemLoader(changed.columns).replay([ItemChange.insert(values)])
            }
            try ItemLoader(loaded.columns).add(snapshot.fields(at: position))
        }
        for store in [copied, loaded, changed] { Self.expectNone(try Self.differences(store, records)) }
    }

    @Test("a property list of dictionaries keeps them")
    func propertyList() throws {
        let records = Self.records(64, seed: 5).map { record in
            record.mapValues { entry -> Entry in
                if case .object(.value(.decimal)?)? = entry.stored { Entry() } else { entry }
            }
        }
        let list = PropertyListValue.array(
            records.map { record in
                .fields(PropertyListFields(record.compactMap { name, entry in entry.value.map { (name, $0) } }))
            })
        try folder.write(try list.encoded(as: .binary), folder.archive)
        let store = try folder.open()
        Self.expectNone(try Self.differences(store, records))
        let other = try store.createItem()
        try store.removeItem(other)
        try store.saveChanges()
        Self.expectNone(try Self.differences(try folder.open(), records))
    }
}
