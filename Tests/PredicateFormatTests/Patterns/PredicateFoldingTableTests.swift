import Testing

@testable import PredicateFormat

@Suite("The table of folded characters")
struct PredicateFoldingTableTests {
    @Test("texts are folded as without it", arguments: 1...3 as ClosedRange<UInt8>)
    func same(rawOptions: UInt8) {
        let options = PredicateOptions(rawValue: rawOptions)
        let ranges: [ClosedRange<UInt32>] = [
            0...0x600, 0x1DF0...0x2150, 0x2FFF...0x3110, 0x4DFF...0x4E10, 0xABFF...0xAC10,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            for text in ["\(scalar)", "a\(scalar)é", "é\(scalar)\u{301}"] {
                let folded = PredicateFolding.withBytes(text) { PredicateFolding.withFolded($0, options) { Array($0) } }
                #expect(folded == PredicateFolding.folded(text, options), "\(scalar.value)")
            }
        }
    }

    @Test("common characters are in it, others are not", arguments: [("Éß Ω й", true), ("が, 日本", true), ("각", false)])
    func holds(text: String, isHeld: Bool) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 100) { buffer in
            let count = PredicateFolding.withBytes(text) {
                PredicateFoldingTable.fold($0, .caseInsensitive, into: buffer)
            }
            #expect((count != nil) == isHeld)
        }
    }
}
