import ItemsTestSupport
import PredicateFormat
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Scans of a mapped archive take its numbers from the index.
@Suite("Mapped columns")
struct MappedColumnTests {
    private let folder: StoreFolder
    private let dear = "valueInDollars > 500 AND name CONTAINS '7'"

    init() throws {
        folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        for number in 0..<16_500 {
            try store.createItem(ItemFields(name: "Item \(number)", valueInDollars: Int64(number * 7919 % 1000)))
        }
        try store.saveChanges()
    }

    @Test func scansSeeWhatTheArchiveHasAndWhatIsNewer() throws {
        let store = try folder.open(mapped: true)
        try store[16_499]?.setValueInDollars(123_456)
        try store[3]?.setValueInDollars(-1)
        #expect(try store.query(FormatPredicate(format: dear)).count() == itemByItem(store))
        #expect(try store.query().max("valueInDollars") == .integer(123_456))
        #expect(try store[3]?.valueInDollars == -1)
    }

    private func itemByItem(_ store: ItemStore) throws -> Int {
        try store.allItems.count { try $0.valueInDollars > 500 && $0.name.contains("7") }
    }

    /// A scan that comes once would leave a page of memory behind for every few items.
    @Test func theFirstScanLeavesTextsInTheArchive() throws {
        let store = try folder.open(mapped: true)
        let expected = try itemByItem(folder.open(mapped: true))
        func present() -> Int { (0..<UInt32(store.count)).count { !store.columns.table.isArchived($0, .name) } }
        #expect(try store.query(FormatPredicate(format: dear)).count() == expected)
        #expect(present() < 100)
        // Who comes again has them.
        #expect(try store.query(FormatPredicate(format: dear)).count() == expected)
        #expect(present() > store.count / 3)
        #expect(try store.query(FormatPredicate(format: dear)).count() == expected)
    }

    /// What cannot be read is read as nothing, and told of, on whichever way it is met.
    @Test(arguments: ["valueInDollars > 500", "valueInDollars < 100 AND name CONTAINS '7'"])
    func damageIsMetAsItemByItem(_ format: String) throws {
        let whole = try folder.read(folder.archive)
        let index = try folder.read(folder.index)
        var reported = 0
        for place in stride(from: 1009, to: whole.count - 32, by: whole.count / 11) {
            var damaged = whole
            for offset in 0..<64 { damaged[place + offset] ^= 0xFF }
            try folder.writeUnnoticed(damaged, index: index)
            guard let scanned = try? folder.open(isReadOnly: true, mapped: true),
                let read = try? folder.open(isReadOnly: true, mapped: true)
            else { continue }
            _ = try scanned.query(FormatPredicate(format: format)).count()
            #expect(try scanned.allItems.map { try $0.valueInDollars } == read.allItems.map { try $0.valueInDollars })
            #expect(try scanned.allItems.map { try $0.name } == read.allItems.map { try $0.name })
            #expect(scanned.loadReport.notices.isEmpty == read.loadReport.notices.isEmpty)
            if !scanned.loadReport.notices.isEmpty { reported += 1 }
        }
        #expect(reported > 0)
    }

    /// Numbers whose page of the index is damaged come from the archive.
    @Test func aDamagedPageOfNumbersIsNotUsed() throws {
        let saved = try folder.open(mapped: true).allItems.map { try $0.valueInDollars }
        let index = try folder.read(folder.index)
        // The header and the description take a page; then there are 32,768 slots, then the numbers.
        let numbers = 4096 + 32_768 * 4
        for place in [numbers, numbers + 4096 * 3 + 7, numbers + 16_499 * 8] {
            var damaged = index
            damaged[place] ^= 1
            try folder.write(damaged, folder.index)
            let scanned = try folder.open(isReadOnly: true, mapped: true)
            #expect(try scanned.query().sum("valueInDollars") == .integer(saved.reduce(0, +)))
            let opened = try folder.open(isReadOnly: true, mapped: true)
            #expect(try opened.allItems.map { try $0.valueInDollars } == saved)
            #expect(opened.columns.document.source != nil && opened.loadReport.notices.isEmpty)
        }
    }

    /// Texts that are read together are those that are read item by item, whatever their neighbours are like.
    @Test(arguments: ["name CONTAINS 'e'", "serialNumber CONTAINS '1'", "serialNumber == nil"])
    func textsReadTogether(_ format: String) throws {
        let odd = try StoreFolder()
        let store = try odd.open(mapped: true)
        let names = ["", "Héloïse", "a name that is too long for a cell to hold", "Bee", "🐻 bear"]
        for number in 0..<3000 {
            let custom: PropertyListFields = number % 7 == 3 ? ["room": .integer(Int64(number))] : [:]
            try store.createItem(
                ItemFields(
                    name: names[number % 5], serialNumber: number % 3 == 0 ? nil : "S\(number)",
                    valueInDollars: Int64(number * 7919 % 1000),
                    custom: custom))
        }
        try store.saveChanges()
        let read = try odd.open(mapped: true)
        let expected = try read.allItems.map { try ($0.name, $0.serialNumber) }
        let scanned = try odd.open(mapped: true)
        try scanned[5]?.setName("changed before the scan")
        // The first time they are looked at where they lie, the second time they are brought in, then they are there.
        let query = try scanned.query(FormatPredicate(format: "valueInDollars > 900 AND " + format))
        let predicate = try FormatPredicate(format: format)
        let count = try read.allItems.enumerated().count { index, item in
            let name = index == 5 ? "changed before the scan" : expected[index].0
            return try item.valueInDollars > 900
                && predicate.evaluate {
                    $0 == "name" ? .string(name) : expected[index].1.map(PropertyListValue.string)
                }
        }
        for _ in 0..<3 { #expect(try query.count() == count) }
        for (index, item) in scanned.allItems.enumerated() where index != 5 {
            #expect(try item.name == expected[index].0)
            #expect(try item.serialNumber == expected[index].1)
        }
        #expect(try scanned[5]?.name == "changed before the scan")
    }

    @Test func groupsOfMappedItems() throws {
        let store = try folder.open(mapped: true)
        try store[7]?.setName("Other 7")
        let groups = try store.query().groupBy("TERNARY(name BEGINSWITH 'Item ', 'Item', 'Other')")
        #expect(groups.map(\.key) == [.string("Item"), .string("Other")])
        #expect(groups.map(\.count) == [16_499, 1])
        #expect(try store[16_499]?.name == "Item 16499" && store[7]?.name == "Other 7")
    }

    @Test func aReferenceToAStoreThatIsGoneIsEmpty() throws {
        var store: ItemStore? = try folder.open(mapped: true)
        let reference = store?.zeroingReference
        #expect(reference?.store === store)
        store = nil
        #expect(reference?.store == nil)
    }
}
