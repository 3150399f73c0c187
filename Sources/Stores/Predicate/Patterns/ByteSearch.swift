/// Searches texts for a constant run of bytes, sixteen places at a time.
struct ByteSearch: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>
    private typealias Block = SIMD2<UInt64>

    /// In lower case if any case of an ASCII letter is taken.
    let bytes: [UInt8]
    let foldsCase: Bool
    private let first: UInt8
    private let last: UInt8
    /// The bits that are set in a text's byte before it is compared with the first or the last byte: that of lower case
    /// where a letter is wanted.
    private let firstFold: UInt8
    private let lastFold: UInt8

    init(_ bytes: [UInt8], foldsCase: Bool) {
        self.bytes = bytes
        self.foldsCase = foldsCase
        func fold(_ byte: UInt8) -> UInt8 { foldsCase && byte &- 0x61 < 26 ? 0x20 : 0 }
        first = bytes.first ?? 0
        last = bytes.last ?? 0
        firstFold = fold(first)
        lastFold = fold(last)
    }

    /// Whether the bytes stand at a place, where they must fit.
    @inline(__always)
    func stand(in text: Bytes, at place: Int) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            if foldsCase {
                for index in 0..<bytes.count where PredicateFolding.lowered(text[place + index]) != bytes[index] {
                    return false
                }
            } else {
                for index in 0..<bytes.count where text[place + index] != bytes[index] { return false }
            }
            return true
        }
    }

    func begin(_ text: Bytes) -> Bool { text.count >= bytes.count && stand(in: text, at: 0) }

    func end(_ text: Bytes) -> Bool { text.count >= bytes.count && stand(in: text, at: text.count - bytes.count) }

    /// The first place of the bytes from a place on. The time is linear in the text's length.
    func place(in text: Bytes, from start: Int = 0) -> Int? {
        let final = text.count - bytes.count
        guard start <= final else { return nil }
        if bytes.isEmpty { return start }
        guard final - start >= 15, let base = text.baseAddress else { return shortPlace(in: text, start...final) }
        let raw = UnsafeRawPointer(base)
        let (firsts, lasts) = (Self.block(first), Self.block(last))
        let (firstFolds, lastFolds) = (Self.block(firstFold), Self.block(lastFold))
        let (ones, highs) = (Self.block(0x01), Self.block(0x80))
        var block = start
        // Places that looked right and were not; many of them are left to an algorithm that has no bad texts.
        var failures = 0
        while true {
            let heads = raw.loadUnaligned(fromByteOffset: block, as: Block.self) | firstFolds
            let tails = raw.loadUnaligned(fromByteOffset: block + bytes.count - 1, as: Block.self) | lastFolds
            // Zero where both are right. The highest bit is set of zeros, and perhaps of what follows one in its word.
            let wrong = (heads ^ firsts) | (tails ^ lasts)
            let found = (wrong &- ones) & ~wrong & highs
            if found[0] | found[1] != 0 {
                for half in 0..<2 {
                    var bits = found[half]
                    while bits != 0 {
                        let place = block + half * 8 + bits.trailingZeroBitCount / 8
                        if stand(in: text, at: place) { return place }
                        failures += 1
                        bits &= bits &- 1
                    }
                }
                if failures > 32, failures * bytes.count > text.count { return linearPlace(in: text, from: block) }
            }
            if block == final - 15 { return nil }
            // The last block overlaps the one before it.
            block = min(block + 16, final - 15)
        }
    }

    private static func block(_ byte: UInt8) -> Block {
        Block(repeating: UInt64(byte) &* 0x0101_0101_0101_0101)
    }

    private func shortPlace(in text: Bytes, _ places: ClosedRange<Int>) -> Int? {
        for place in places where text[place] | firstFold == first {
            if text[place + bytes.count - 1] | lastFold == last, stand(in: text, at: place) { return place }
        }
        return nil
    }

    /// By Knuth, Morris and Pratt.
    private func linearPlace(in text: Bytes, from start: Int) -> Int? {
        let borders = borders()
        var matched = 0
        for place in start..<text.count {
            let byte = foldsCase ? PredicateFolding.lowered(text[place]) : text[place]
            while matched > 0 && bytes[matched] != byte { matched = borders[matched - 1] }
            if bytes[matched] == byte { matched += 1 }
            if matched == bytes.count { return place + 1 - bytes.count }
        }
        return nil
    }

    /// For each beginning of the bytes, the length of the longest proper beginning that is also its end.
    private func borders() -> [Int] {
        var borders = [Int](repeating: 0, count: bytes.count)
        var matched = 0
        for index in bytes.indices.dropFirst() {
            while matched > 0 && bytes[matched] != bytes[index] { matched = borders[matched - 1] }
            if bytes[matched] == bytes[index] { matched += 1 }
            borders[index] = matched
        }
        return borders
    }
}
