import Files
import ItemsTestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("The key index of a mapped archive")
struct MappedKeySlotsTests {
    /// A table of 2,048 slots, two pages, in which `count` rows stand where their hashes say.
    private static func table(_ count: UInt32) -> [UInt32] {
        var table = [UInt32](repeating: 0, count: 2048)
        for row in 0..<count {
            var slot = HashIndex.home(hash(row), mask: 2047)
            while table[slot] != 0 { slot = (slot + 1) & 2047 }
            table[slot] = row + 1 | HashIndex.tag(hash(row), rowMask: 2047)
        }
        return table
    }

    private static func hash(_ row: UInt32) -> UInt64 { Checksum.hash([UInt8](String(row).utf8)) }

    private static func with<Result>(
        _ table: [UInt32], _ count: Int, change: (inout [UInt64]) -> Void = { _ in },
        _ body: (MappedKeySlots) throws -> Result
    ) throws -> Result {
        try table.withUnsafeBytes { slots in
            var sums = MappedKeySlots.checksums(of: slots)
            change(&sums)
            return try sums.withUnsafeBytes { sums in
                try body(try #require(MappedKeySlots(slots, checksums: sums, itemCount: count, keeper: nil)))
            }
        }
    }

    @Test func findsWhatIsThere() throws {
        try Self.with(Self.table(1500), 1500) { slots in
            for row in 0..<1500 as Range<UInt32> { #expect(slots.find(Self.hash(row)) { $0 == row } == row) }
            for row in 1500..<3000 as Range<UInt32> { #expect(slots.find(Self.hash(row)) { $0 == row } == nil) }
            #expect(!slots.isDamaged)
        }
    }

    @Test("a page is checked when it is looked at, and not before")
    func checksPages() throws {
        try Self.with(Self.table(100), 100, change: { $0[1] ^= 1 }) { slots in
            let first = try #require(
                (0..<100 as Range<UInt32>).first { HashIndex.home(Self.hash($0), mask: 2047) < 900 })
            let second = try #require(
                (0..<100 as Range<UInt32>).first { HashIndex.home(Self.hash($0), mask: 2047) >= 1024 })
            #expect(slots.find(Self.hash(first)) { $0 == first } == first)
            #expect(!slots.isDamaged)
            #expect(slots.find(Self.hash(second)) { $0 == second } == nil)
            #expect(slots.isDamaged)
        }
    }

    @Test("a table that is wrong with the right checksums is safe")
    func crafted() throws {
        // No slot is empty: a search for what is not there ends all the same.
        let tags = HashIndex.tag(Self.hash(7), rowMask: 2047)
        try Self.with([UInt32](repeating: 1 | tags, count: 2048), 1) { slots in
            #expect(slots.find(Self.hash(7)) { _ in false } == nil)
        }
        // A row beyond the items, and a slot without a row, are never asked for.
        for entry in [5, 2047, 4096] as [UInt32] {
            try Self.with([UInt32](repeating: entry, count: 2048), 3) { slots in
                let found = slots.find(UInt64.max) { row in
                    #expect(row < 3)
                    return false
                }
                #expect(found == nil)
                #expect(slots.isDamaged)
            }
        }
    }

    @Test("a store finds its items beside an index with a damaged page")
    func storeBesideADamagedPage() throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        try store.transaction {
            for number in 0..<3000 {
                try store.createItem(ItemFields(name: "item \(number)", itemKey: number % 3 == 0 ? "K\(number)" : nil))
            }
        }
        try store.saveChanges()
        let keys = try store.allItems.map { try $0.itemKey }
        let index = try folder.read(folder.index)
        for page in 1...4 {
            var damaged = index
            damaged[page * 4096 + 100] ^= 0x40
            try folder.write(damaged, folder.index)
            let opened = try folder.open(mapped: true)
            #expect(opened.columns.document.source != nil)
            for (position, key) in keys.enumerated().reversed() {
                #expect(try opened.item(forKey: key)?.position == position, "page \(page)")
            }
            #expect(opened.item(forKey: "nobody") == nil)
            // The first change makes a table that can be changed, of the damaged one.
            let changed = try folder.open(mapped: true)
            try changed.removeItem(try #require(changed[1]))
            #expect(changed.item(forKey: keys[1]) == nil)
            #expect(try changed.item(forKey: keys[2])?.position == 1)
            #expect(try changed.undo())
            try changed.commit()
            try folder.write(index, folder.index)
        }
    }
}
