import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Columns") struct ColumnTests {
    /// Across the size from which a column lies on large pages, and across the room that it reserves then.
    @Test func aColumnKeepsItsElementsAsItGrowsLarge() {
        var column = Column<UInt64>()
        let large = LargeMemory.least / MemoryLayout<UInt64>.stride
        for number in 0..<UInt64(large * 3) { column.append(number &* 0x9E37_79B9_7F4A_7C15) }
        for number in 0..<UInt64(large * 3) {
            guard column[UInt32(number)] == number &* 0x9E37_79B9_7F4A_7C15 else {
                Issue.record("element \(number) is another one")
                return
            }
        }
        column.reserve(large * 40)
        #expect(column.count == large * 3 && column.capacity >= large * 40)
        #expect(column[0] == 0 && column[1] == 0x9E37_79B9_7F4A_7C15)
        #expect(column[UInt32(large * 3 - 1)] == UInt64(large * 3 - 1) &* 0x9E37_79B9_7F4A_7C15)
    }

    @Test func aSnapshotKeepsTheElementsOfALargeColumn() {
        var column = Column<UInt64>()
        let count = LargeMemory.least / MemoryLayout<UInt64>.stride + 10
        for number in 0..<UInt64(count) { column.append(number) }
        let snapshot = column.share()
        for row in 0..<UInt32(count) { column[row] = 1 }
        for number in 0..<UInt64(count) { column.append(number) }
        var isSame = true
        for row in 0..<UInt32(count) where snapshot[row] != UInt64(row) || column[row] != 1 { isSame = false }
        #expect(isSame)
        #expect(column[UInt32(count + 7)] == 7)
    }

    @Test(arguments: [0, 1, LargeMemory.least - 1, 1 << 52, Int.max - 1])
    func onlyWhatIsLargeAndCanBeHadIsOnLargePages(byteCount: Int) {
        #expect(LargeMemory(byteCount) == nil)
    }

    @Test func largeMemoryIsZerosAtALargePagesBeginning() throws {
        let memory = try #require(LargeMemory(LargeMemory.least + 1))
        defer { memory.free() }
        #expect(Int(bitPattern: memory.base) % (2 << 20) == 0 && memory.byteCount > LargeMemory.least)
        #expect(memory.base.load(as: UInt64.self) == 0)
        memory.base.storeBytes(of: 7, toByteOffset: memory.byteCount - 1, as: UInt8.self)
        #expect(memory.base.load(fromByteOffset: memory.byteCount - 1, as: UInt8.self) == 7)
    }
}
