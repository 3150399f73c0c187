import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Sorted tree")
struct SortedTreeTests {
    /// Goes through the whole tree and says what is wrong with it.
    private func check(_ tree: borrowing SortedTree<Int>, _ expected: [Int]) {
        #expect(tree.count == expected.count)
        var forwards: [Int] = []
        tree.forEach(from: tree.start) {
            forwards.append($0); return true
        }
        #expect(forwards == expected)
        var backwards: [Int] = []
        tree.forEachBackwards(before: tree.end) {
            backwards.append($0); return true
        }
        #expect(backwards == expected.reversed())
    }

    private func probe(_ tree: borrowing SortedTree<Int>, _ expected: [Int], _ bound: Int) {
        let rank = expected.firstIndex { $0 >= bound } ?? expected.count
        let found = tree.lowerBound { $0 < bound }
        #expect(found.rank == rank)
        var next: Int?
        tree.forEach(from: found.position) {
            next = $0; return false
        }
        #expect(next == (rank < expected.count ? expected[rank] : nil))
        next = nil
        tree.forEachBackwards(before: tree.position(ofRank: rank)) {
            next = $0; return false
        }
        #expect(next == (rank > 0 ? expected[rank - 1] : nil))
    }

    @Test(arguments: 1...4)
    func randomChangesAgainstASortedArray(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var tree = SortedTree<Int>()
        var model: [Int] = []
        // It grows to some thousands and shrinks again, more than once.
        for step in 0..<12_000 {
            let element = random.number(3000)
            let place = model.firstIndex { $0 >= element } ?? model.count
            let isThere = place < model.count && model[place] == element
            let grows = step / 3000 % 2 == 0
            if grows ? random.number(10) < 8 : random.number(10) < 2 {
                if !isThere {
                    tree.insert(element, <)
                    model.insert(element, at: place)
                }
            } else {
                let removed = tree.remove(element, <)
                #expect(removed == isThere)
                if isThere { model.remove(at: place) }
            }
            if step % 500 == 0 { check(tree, model) }
            if step % 20 == 0 { probe(tree, model, random.number(3200) - 100) }
        }
        check(tree, model)
        for element in model.shuffled(using: &random) { tree.remove(element, <) }
        check(tree, [])
        tree.insert(5, <)
        check(tree, [5])
    }

    @Test(arguments: [0, 1, 55, 56, 57, 64, 65, 3135, 3136, 3137, 10_000])
    func fromSortedElements(count: Int) {
        let elements = (0..<count).map { $0 * 2 }
        var tree = SortedTree<Int>()
        elements.withUnsafeBufferPointer { tree = SortedTree(sorted: $0) }
        check(tree, elements)
        for bound in [-1, 0, 1, count, count * 2 - 2, count * 2] { probe(tree, elements, bound) }
        for element in elements { tree.insert(element + 1, <) }
        check(tree, Array(0..<count * 2))
        for element in elements { tree.remove(element, <) }
        check(tree, elements.map { $0 + 1 })
    }

    @Test func ascendingAndDescendingInsertionsKeepNodesUseful() {
        var ascending = SortedTree<Int>()
        var descending = SortedTree<Int>()
        for element in 0..<20_000 {
            ascending.insert(element, <)
            descending.insert(20_000 - element, <)
        }
        check(ascending, Array(0..<20_000))
        check(descending, Array(1...20_000))
        #expect(ascending.byteCount < 20_000 * 8 * 2)
    }
}
