import PropertyList
import Testing

@testable import Stores

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
        #expect(try store.query(Predicate(format: dear)).count() == itemByItem(store))
        #expect(try store.query().max("valueInDollars") == .integer(123_456))
        #expect(try store[3]?.valueInDollars == -1)
    }

    private func itemByItem(_ store: ItemStore) throws -> Int {
        try store.allItems.count { try $0.valueInDollars > 500 && $0.name.contains("7") }
    }

    /// What cannot be read is read as nothing, and told of, on whichever way it is met.
    @Test func damageIsMetAsItemByItem() throws {
        let whole = try folder.read(folder.archive)
        let index = try folder.read(folder.index)
        var reported = 0
        for place in stride(from: 1009, to: whole.count - 32, by: whole.count / 3) {
            var damaged = whole
            for offset in 0..<64 { damaged[place + offset] ^= 0xFF }
            try folder.writeUnnoticed(damaged, index: index)
            guard let scanned = try? folder.open(isReadOnly: true, mapped: true),
                let read = try? folder.open(isReadOnly: true, mapped: true)
            else { continue }
            _ = try scanned.query(Predicate(format: "valueInDollars > 500")).count()
            #expect(try scanned.allItems.map { try $0.valueInDollars } == read.allItems.map { try $0.valueInDollars })
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
            #expect(opened.rowSource != nil && opened.loadReport.notices.isEmpty)
        }
    }

    @Test func aReferenceToAStoreThatIsGoneIsEmpty() throws {
        var store: ItemStore? = try folder.open(mapped: true)
        let reference = store?.zeroingReference
        #expect(reference?.store === store)
        store = nil
        #expect(reference?.store == nil)
    }
}
