import Testing

@testable import Files

@Suite("Checksum")
struct ChecksumTests {
    /// Values published with the algorithm's other implementations.
    @Test(arguments: [
        ("", 0xEF46_DB37_51D8_E999 as UInt64), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
        ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ])
    func known(text: String, expected: UInt64) {
        #expect(Checksum.hash(Array(text.utf8)) == expected)
    }

    @Test func everyByteCounts() {
        for count in [1, 7, 8, 31, 32, 33, 64, 100] {
            let bytes = (0..<count).map { UInt8($0) }
            var sums: Set<UInt64> = [Checksum.hash(bytes), Checksum.hash(bytes, seed: 1)]
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1
                sums.insert(Checksum.hash(changed))
            }
            #expect(sums.count == count + 2)
        }
    }

    @Test("in pieces of any length it is the same", arguments: [0, 1, 31, 32, 33, 64, 100, 1000])
    func pieces(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for length in [1, 5, 31, 32, 33, 70, 1000] {
            var running = RunningChecksum()
            for start in stride(from: 0, to: count, by: length) {
                bytes[start..<min(start + length, count)].withUnsafeBytes { running.add($0) }
            }
            #expect(running.value == Checksum.hash(bytes))
        }
    }
}
