import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Numbers of group keys")
struct KeyNumbersTests {
    @Test("equal values have one number, in order of appearance")
    func numbers() {
        var heap = CellHeap()
        let groups: [[Cell]] = [
            [.integer(1), .real(1), .single(1)], [.boolean(true)], [.boolean(false)],
            [.integer(0), .real(-0.0), .real(0)],
            [.absent, .absent], [.real(.nan), .real(-.nan), .single(.nan)], [.real(0.5), .single(0.5)], [.date(1)],
            [.date(0), .date(-0.0)],
            [.integer(1 << 53), .real(0x1p53)], [.integer(1 << 53 + 1)], [.integer(.min), .real(-0x1p63)],
            [.integer(.max)], [.real(0x1p63)], [.real(.infinity)], [heap.text("a"), heap.text("a")], [heap.text("")],
            [heap.text("a text that is in the heap"), heap.text("a text that is in the heap")],
            [heap.cell(.array([.integer(1)])), heap.cell(.array([.integer(1)]))], [heap.cell(.array([.real(1)]))],
            [heap.cell(.data([1])), heap.cell(.data([1]))], [heap.cell(.dictionary([:]))],
        ]
        var numbers = KeyNumbers()
        for turn in 0..<2 {
            for (place, cells) in groups.enumerated() {
                for cell in cells {
                    let number = numbers.number(of: cell) { heap.value(ofBox: $0) }
                    #expect(number == UInt32(place), "turn \(turn), \(String(describing: heap.value(cell)))")
                }
            }
        }
        #expect(numbers.count == groups.count)
    }

    @Test("many of them")
    func many() {
        var numbers = KeyNumbers()
        for number in 0..<3000 {
            let found = numbers.number(of: .integer(Int64(number))) { _ in .null }
            #expect(found == UInt32(number))
        }
        #expect(numbers.number(of: .real(2999)) { _ in .null } == 2999)
    }
}
