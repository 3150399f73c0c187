import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Dictionaries of cells")
struct CellDictionaryTests {
    private static let texts = ["", "a", "a\0", "fourteen bytes", "fifteen bytes ä", "ä", "a\u{308}"]

    @Test("equal values have one code, in order of appearance, wherever their texts lie")
    func codes() {
        var (first, second) = (CellHeap(), CellHeap())
        let dictionary = CellDictionary()
        for (place, text) in Self.texts.enumerated() {
            #expect(dictionary.code(for: first.text(text)) == UInt32(place + 1))
            #expect(dictionary.code(for: second.text(text)) == UInt32(place + 1))
        }
        let others: [Cell] = [.boolean(false), .boolean(true), .integer(0), .integer(1), .real(1), .date(1)]
        for (place, cell) in others.enumerated() {
            #expect(dictionary.code(for: cell) == UInt32(Self.texts.count + place + 1))
        }
        #expect(dictionary.count == Self.texts.count + others.count)
    }

    @Test("a text finds its entry, and only its own")
    func entries() {
        var heap = CellHeap()
        let dictionary = CellDictionary()
        func entry(_ text: String) -> Cell? {
            var text = text
            return text.withUTF8 { dictionary.entry(for: $0) }
        }
        #expect(entry("a") == nil)
        for text in Self.texts { _ = dictionary.code(for: heap.text(text)) }
        for text in Self.texts { #expect(entry(text).map { Array(CellHeap.string($0).utf8) } == Array(text.utf8)) }
        for text in ["b", "fourteen Bytes", "fifteen bytes Ä"] { #expect(entry(text) == nil) }
        // No text is at the address of nothing.
        #expect(dictionary.entry(for: UnsafeBufferPointer(start: nil, count: 0)) == entry(""))
    }

    @Test("codes stay when it grows, and when the texts move")
    func growth() {
        var heap = CellHeap()
        let dictionary = CellDictionary()
        func text(_ number: Int) -> Cell { heap.text(number % 2 == 0 ? "\(number)" : "number \(number) of very many") }
        for number in 0..<5000 { #expect(dictionary.code(for: text(number)) == UInt32(number + 1)) }
        var moved = CellHeap()
        dictionary.replaceCells { moved.adopt($0, from: heap) }
        heap = moved
        for number in 0..<5000 { #expect(dictionary.code(for: text(number)) == UInt32(number + 1)) }
        #expect(dictionary.count == 5000)
    }

    @Test("values that are not all in their cell are none")
    func taken() {
        for cell in [.absent, Cell.box(0), .single(1)] { #expect(!CellDictionary.takes(cell)) }
        var heap = CellHeap()
        for cell in [Cell.integer(1), .real(1), .date(1), .boolean(false), heap.text("a"), heap.text(Self.texts[4])] {
            #expect(CellDictionary.takes(cell))
        }
    }
}
