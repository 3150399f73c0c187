import Testing

@testable import PropertyList

@Suite("Variable-length integers")
struct VarintTests {
    static let encodings: [(UInt64, [UInt8])] = [
        (0, [0]), (1, [1]), (127, [0x7F]), (128, [0x80, 1]), (300, [0xAC, 2]), (16_383, [0xFF, 0x7F]),
        (16_384, [0x80, 0x80, 1]), (1 << 63, [UInt8](repeating: 0x80, count: 9) + [1]),
        (.max, [UInt8](repeating: 0xFF, count: 9) + [1]),
    ]

    @Test("a number has the same bytes in an array and in memory, and comes back", arguments: encodings)
    func roundTrip(number: UInt64, bytes: [UInt8]) {
        var appended: [UInt8] = []
        Varint.append(number, to: &appended)
        #expect(appended == bytes)
        let stored = [UInt8](unsafeUninitializedCapacity: Varint.maximumSize) { buffer, size in
            if let target = buffer.baseAddress { size = Varint.store(number, at: target) }
        }
        #expect(stored == bytes)
        #expect(Varint.numbers(in: bytes + bytes) == [number, number])
    }

    @Test(
        "a number that runs past the end or past 64 bits is refused",
        arguments: [
            [0x80], [1, 0xFF], [UInt8](repeating: 0x80, count: 9) + [2],
            [UInt8](repeating: 0x80, count: 9) + [0x81, 0],
            [UInt8](repeating: 0x80, count: 64) + [0],
        ])
    func refused(bytes: [UInt8]) {
        #expect(Varint.numbers(in: bytes) == nil)
    }

    @Test("no bytes are not numbers") func empty() { #expect(Varint.numbers(in: []) == []) }

    @Test(
        "zigzag encoding makes numbers near 0 small",
        arguments: [(0, 0), (-1, 1), (1, 2), (-2, 3), (.max, .max - 1), (.min, .max)] as [(Int64, UInt64)])
    func zigzag(number: Int64, encoded: UInt64) {
        #expect(Varint.zigzag(number) == encoded)
        #expect(Varint.signed(encoded) == number)
    }
}
