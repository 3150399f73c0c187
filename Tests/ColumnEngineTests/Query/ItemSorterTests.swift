import PropertyList
import Testing

@testable import ColumnEngine

@Suite("Item sorter") struct ItemSorterTests {
    @Test("the memory of its entries grows by a factor, not by each batch, which would copy all of them")
    func growth() throws {
        var sorter = try ItemSorter(ColumnStore(ItemSchema([])), [], keeping: nil)
        var capacities: Set<Int> = []
        let rows = Array<UInt32>(0..<1024)
        for _ in 0..<500 {
            try rows.withUnsafeBufferPointer { try sorter.add($0) }
            capacities.insert(sorter.capacity)
        }
        #expect(capacities.count < 30)
        #expect(sorter.capacity >= 512_000)
    }
}
