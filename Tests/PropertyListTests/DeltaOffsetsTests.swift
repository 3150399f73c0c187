import TestSupport
import Testing

@testable import PropertyList

@Suite("Places of objects") struct DeltaOffsetsTests {
    /// Gaps that take from one byte to five, so that pieces end within them.
    static let gaps = [1, 127, 128, 300, 16_383, 16_384, 70_000, 1 << 33]

    @Test("what was added comes back, few and so many that they go to a scratch file", arguments: [0, 1, 9, 2_000_000])
    func places(count: Int) throws {
        let folder = try TemporaryDirectory()
        let list = DeltaOffsets(try PropertyListFile(replacing: "\(folder.path)/places"))
        for start in stride(from: 0, to: count, by: 1000) {
            var bytes: [UInt8] = []
            for index in start..<min(start + 1000, count) {
                bytes += [UInt8](unsafeUninitializedCapacity: Varint.maximumSize) { buffer, size in
                    if let target = buffer.baseAddress {
                        size = Varint.store(UInt64(Self.gaps[index % Self.gaps.count]), at: target)
                    }
                }
            }
            bytes.withUnsafeBufferPointer { list.append(gaps: $0) }
        }
        var (number, expected, differing) = (0, 0, 0)
        try list.forEachPiece { places in
            for place in places {
                expected += Self.gaps[number % Self.gaps.count]
                if place != expected { differing += 1 }
                number += 1
            }
        }
        #expect(number == count)
        #expect(differing == 0)
    }
}
