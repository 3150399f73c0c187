import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine

@Suite("The items' order")
struct ItemOrderTests {
    @Test("rows that are put back together are where they were, whichever were removed", arguments: UInt64(1)...20)
    func putBack(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var order = ItemOrder()
        let count = Int.random(in: 1...300, using: &random)
        for row in 0..<count { add(UInt32(row), to: &order) }
        for _ in 0..<3 {
            let before = order.slots.filter { $0 != ItemOrder.hole }
            var removed: [PlacedRow] = []
            for _ in 0..<Int.random(in: 0...count, using: &random) {
                let row = order.row(at: Int.random(in: 0..<order.count, using: &random))
                removed.append(PlacedRow(row, at: order.remove(row)))
            }
            let placed = order.restore(removed)
            #expect(order.slots == before)
            #expect(placed.map(\.row) == before.filter { row in removed.contains { $0.row == row } })
            for item in placed {
                #expect(order.row(at: item.position) == item.row && order.position(of: item.row) == item.position)
            }
        }
    }

    @Test("rows that stood behind others that are gone come last") func fewer() {
        var order = ItemOrder()
        for row in 0..<5 { add(UInt32(row), to: &order) }
        let removed = [3, 3].map { position in
            let row = order.row(at: position)
            return PlacedRow(row, at: order.remove(row))
        }
        for row in [UInt32(0), 1] { _ = order.remove(row) }
        _ = order.restore(removed)
        #expect(order.slots == [2, 4, 3])
        #expect(order.count == 3)
    }

    private func add(_ row: UInt32, to order: inout ItemOrder) {
        order.addRow()
        order.append(row)
    }
}
