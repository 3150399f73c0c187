import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Sorted blocks")
struct SortedBlocksTests {
    /// Goes through all elements and says what is wrong with them.
    private func check(_ blocks: borrowing SortedBlocks<Int>, _ expected: [Int]) {
        #expect(blocks.count == expected.count)
        var forwards: [Int] = []
        blocks.forEach(from: blocks.start) {
            forwards.append($0); return true
        }
        #expect(forwards == expected)
        var backwards: [Int] = []
        blocks.forEachBackwards(before: blocks.end) {
            backwards.append($0); return true
        }
        #expect(backwards == expected.reversed())
    }

    private func probe(_ blocks: borrowing SortedBlocks<Int>, _ expected: [Int], _ bound: Int) {
        let rank = expected.firstIndex { $0 >= bound } ?? expected.count
        let found = blocks.lowerBound { $0 < bound }
        #expect(found.rank == rank)
        var next: Int?
        blocks.forEach(from: found.position) {
            next = $0; return false
        }
        #expect(next == (rank < expected.count ? expected[rank] : nil))
        next = nil
        blocks.forEachBackwards(before: blocks.position(ofRank: rank)) {
            next = $0; return false
        }
        #expect(next == (rank > 0 ? expected[rank - 1] : nil))
    }

    @Test(arguments: 1...4)
    func randomChangesAgainstASortedArray(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var blocks = SortedBlocks<Int>()
        var model: [Int] = []
        // It grows to some thousands and shrinks again, more than once.
        for step in 0..<12_000 {
            let element = random.number(3000)
            let place = model.firstIndex { $0 >= element } ?? model.count
            let isThere = place < model.count && model[place] == element
            let grows = step / 3000 % 2 == 0
            if grows ? random.number(10) < 8 : random.number(10) < 2 {
                if !isThere {
                    blocks.insert(element, <)
                    model.insert(element, at: place)
                }
            } else {
                let removed = blocks.remove(element, <)
                #expect(removed == isThere)
                if isThere { model.remove(at: place) }
            }
            if step % 500 == 0 { check(blocks, model) }
            if step % 20 == 0 { probe(blocks, model, random.number(3200) - 100) }
        }
        check(blocks, model)
        for element in model.shuffled(using: &random) { blocks.remove(element, <) }
        check(blocks, [])
        blocks.insert(5, <)
        check(blocks, [5])
    }

    @Test(arguments: [0, 1, 223, 224, 225, 256, 257, 447, 448, 449, 3135, 3136, 3137, 10_000])
    func fromSortedElements(count: Int) {
        let elements = (0..<count).map { $0 * 2 }
        var blocks = SortedBlocks<Int>()
        elements.withUnsafeBufferPointer { blocks = SortedBlocks(sorted: $0) }
        check(blocks, elements)
        for bound in [-1, 0, 1, count, count * 2 - 2, count * 2] { probe(blocks, elements, bound) }
        for element in elements { blocks.insert(element + 1, <) }
        check(blocks, Array(0..<count * 2))
        for element in elements { blocks.remove(element, <) }
        check(blocks, elements.map { $0 + 1 })
    }

    @Test func ascendingAndDescendingInsertionsKeepBlocksFull() {
        var ascending = SortedBlocks<Int>()
        var descending = SortedBlocks<Int>()
        for element in 0..<20_000 {
            ascending.insert(element, <)
            descending.insert(20_000 - element, <)
        }
        check(ascending, Array(0..<20_000))
        check(descending, Array(1...20_000))
        #expect(ascending.byteCount < 20_000 * 8 * 2)
    }
}
