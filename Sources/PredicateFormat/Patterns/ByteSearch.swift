import Platform

/// Searches texts for a constant run of bytes, sixteen offsets at a time.
///
/// `CONTAINS` over names of some twenty bytes is 1.8 times as fast as with a loop over the offsets, over texts of 700
/// bytes 5.6 times.
struct ByteSearch: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Lowercase when the search ignores the case of ASCII letters.
    let bytes: [UInt8]
    let foldsCase: Bool

    init(_ bytes: [UInt8], foldsCase: Bool) {
        self.bytes = bytes
        self.foldsCase = foldsCase
    }

    func begin(_ text: Bytes) -> Bool {
        bytes.withUnsafeBufferPointer { Needle(bytes: $0, foldsCase: foldsCase).stands(in: text, at: 0) }
    }

    func end(_ text: Bytes) -> Bool {
        bytes.withUnsafeBufferPointer {
            Needle(bytes: $0, foldsCase: foldsCase).stands(in: text, at: text.count - $0.count)
        }
    }

    /// The first offset of the bytes at or after `start`. The time is linear in the text's length.
    func firstOffset(in text: Bytes, from start: Int = 0) -> Int? {
        bytes.withUnsafeBufferPointer { Needle(bytes: $0, foldsCase: foldsCase).firstOffset(in: text, from: start) }
    }
}

extension ByteSearch {
    /// The search over borrowed bytes.
    struct Needle {
        private typealias Block = SIMD2<UInt64>

        let bytes: Bytes
        let foldsCase: Bool

        /// Whether the bytes occur at an offset, which may be outside of the text.
        func stands(in text: Bytes, at offset: Int) -> Bool {
            guard offset >= 0, offset <= text.count - bytes.count else { return false }
            if foldsCase {
                for index in 0..<bytes.count where PredicateFolding.lowered(text[offset + index]) != bytes[index] {
                    return false
                }
            } else {
                for index in 0..<bytes.count where text[offset + index] != bytes[index] { return false }
            }
            return true
        }

        /// The bit set in a text's byte before the comparison: the lowercase bit for a letter.
        private func fold(_ byte: UInt8) -> UInt8 { foldsCase && byte &- 0x61 < 26 ? 0x20 : 0 }

        func firstOffset(in text: Bytes, from start: Int) -> Int? {
            let final = text.count - bytes.count
            guard start <= final else { return nil }
            guard let first = bytes.first, let last = bytes.last else { return start }
            guard final - start >= 15, let base = text.baseAddress else {
                return shortFirstOffset(in: text, start...final, first)
            }
            let raw = UnsafeRawPointer(base)
            let (firsts, lasts) = (Self.block(first), Self.block(last))
            let (firstFolds, lastFolds) = (Self.block(fold(first)), Self.block(fold(last)))
            let (ones, highs) = (Self.block(0x01), Self.block(0x80))
            var block = start
            // Candidates that failed. Too many of them would make the time quadratic.
            var failures = 0
            while true {
                let heads = raw.loadUnaligned(fromByteOffset: block, as: Block.self) | firstFolds
                let tails = raw.loadUnaligned(fromByteOffset: block + bytes.count - 1, as: Block.self) | lastFolds
                // Zero bytes of `wrong` are candidates. Their highest bits are set in `found`, which may also have that
                // of the byte after one.
                let wrong = (heads ^ firsts) | (tails ^ lasts)
                let found = (wrong &- ones) & ~wrong & highs
                if found[0] | found[1] != 0 {
                    for half in 0..<2 {
                        var bits = found[half]
                        while bits != 0 {
                            let offset = block + half * 8 + bits.trailingZeroBitCount / 8
                            if stands(in: text, at: offset) { return offset }
                            failures += 1
                            bits &= bits &- 1
                        }
                    }
                    if failures > 32, failures * bytes.count > text.count {
                        return linearFirstOffset(in: text, from: block)
                    }
                }
                if block == final - 15 { return nil }
                // The last block overlaps the one before it.
                block = min(block + 16, final - 15)
            }
        }

        private static func block(_ byte: UInt8) -> Block {
            Block(repeating: UInt64(byte) &* 0x0101_0101_0101_0101)
        }

        /// The search for texts shorter than a block: by the first byte, eight offsets at a time.
        /// `CONTAINS` over names is 1.2 times as fast as with a loop.
        private func shortFirstOffset(in text: Bytes, _ offsets: ClosedRange<Int>, _ first: UInt8) -> Int? {
            let raw = UnsafeRawBufferPointer(text)
            let (wanted, fold) = (Self.block(first)[0], Self.block(fold(first))[0])
            var from = offsets.lowerBound
            while from <= offsets.upperBound {
                let wrong = (Self.word(raw, from) | fold) ^ wanted
                var found = (wrong &- 0x0101_0101_0101_0101) & ~wrong & 0x8080_8080_8080_8080
                while found != 0 {
                    let offset = from + found.trailingZeroBitCount / 8
                    if offset > offsets.upperBound { return nil }
                    if stands(in: text, at: offset) { return offset }
                    found &= found &- 1
                }
                from += 8
            }
            return nil
        }

        /// The eight bytes from an offset on, the first in the lowest byte; zeros past the end.
        private static func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
            let left = raw.count - offset
            if left >= 8 { return raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian }
            if raw.count >= 8 {
                let last = raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self).littleEndian
                return last >> UInt64(8 * (8 - left))
            }
            var word: UInt64 = 0
            for index in offset..<raw.count { word |= UInt64(raw[index]) << UInt64(8 * (index - offset)) }
            return word
        }

        /// The Knuth-Morris-Pratt algorithm.
        private func linearFirstOffset(in text: Bytes, from start: Int) -> Int? {
            let borders = borders()
            var matched = 0
            for offset in start..<text.count {
                let byte = foldsCase ? PredicateFolding.lowered(text[offset]) : text[offset]
                while matched > 0 && bytes[matched] != byte { matched = borders[matched - 1] }
                if bytes[matched] == byte { matched += 1 }
                if matched == bytes.count { return offset + 1 - bytes.count }
            }
            return nil
        }

        /// For each prefix the length of its longest proper border.
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
}

/// A constant text that other texts are compared with or searched for, prepared once.
///
/// Evaluation does not allocate: ASCII text, and any text without options, is compared in place, other text is folded
/// on the stack.
@usableFromInline
package struct PredicateNeedle: Sendable {
    @usableFromInline package typealias Bytes = UnsafeBufferPointer<UInt8>

    let options: PredicateOptions
    /// Folded by the options.
    let bytes: [UInt8]

    private let search: ByteSearch
    private let length: Int
    private let foldsCase: Bool

    @usableFromInline
    init(_ text: String, _ options: PredicateOptions) {
        let bytes = PredicateFolding.folded(text, options)
        self.options = options
        self.bytes = bytes
        length = bytes.count
        foldsCase = options.contains(.caseInsensitive)
        search = ByteSearch(bytes, foldsCase: foldsCase)
    }

    // MARK: Comparing

    /// Negative, zero or positive when the text is before, equal to or after this one, by bytes and so by Unicode
    /// scalars.
    @usableFromInline
    func order(of text: Bytes) -> Int {
        if options.isEmpty { return bytes.withUnsafeBufferPointer { Self.order(text, $0) } }
        switch plainOrder(of: text) {
        case .decided(let order): return order
        // The remainder may fold to nothing.
        case .begins where text[length] < 0x80: return 1
        case .begins, .open: break
        }
        return folded(text) { folded in bytes.withUnsafeBufferPointer { Self.order(folded, $0) } }
    }

    @usableFromInline
    func equals(_ text: Bytes) -> Bool {
        if options.isEmpty { return text.count == length && exactly(text, at: 0) }
        return order(of: text) == 0
    }

    @usableFromInline
    func begins(_ text: Bytes) -> Bool {
        if options.isEmpty { return text.count >= length && exactly(text, at: 0) }
        switch plainOrder(of: text) {
        case .decided(let order): return order == 0
        case .begins where text[length] < 0x80: return true
        case .begins, .open:
            return folded(text) { folded in
                folded.count >= length && exactly(folded, at: 0)
                    && !PredicateFolding.startsWithMark(folded, from: length)
            }
        }
    }

    @usableFromInline
    func ends(_ text: Bytes) -> Bool {
        if options.isEmpty { return text.count >= length && exactly(text, at: text.count - length) }
        // Compares ASCII in place.
        for index in 1..<length + 1 {
            guard index <= text.count else { return false }
            let byte = text[text.count - index]
            if byte >= 0x80 {
                return folded(text) { $0.count >= length && exactly($0, at: $0.count - length) }
            }
            if (foldsCase ? PredicateFolding.lowered(byte) : byte) != bytes[length - index] { return false }
        }
        return true
    }

    private enum PlainOrder {
        case decided(Int)
        /// The text has the needle as a proper prefix.
        case begins
        /// The result depends on characters outside of ASCII.
        case open
    }

    /// Compares without folding up to the first character outside of ASCII; most comparisons end before it.
    private func plainOrder(of text: Bytes) -> PlainOrder {
        bytes.withUnsafeBufferPointer { needle in
            let shared = min(text.count, needle.count)
            for index in 0..<shared {
                let byte = text[index]
                if byte >= 0x80 { return .open }
                let folded = foldsCase ? PredicateFolding.lowered(byte) : byte
                if folded != needle[index] { return .decided(folded < needle[index] ? -1 : 1) }
            }
            if text.count > needle.count { return .begins }
            return .decided(text.count < needle.count ? -1 : 0)
        }
    }

    // MARK: Searching

    /// Whether the text contains the needle. An empty needle is in every text.
    @usableFromInline
    package func isContained(in text: Bytes) -> Bool {
        if length == 0 { return true }
        if let offset = search.firstOffset(in: text) {
            // The next character may be an accent of the last letter.
            if options.isEmpty || offset + length == text.count || text[offset + length] < 0x80 { return true }
        } else if options.isEmpty || PredicateFolding.isASCII(text) {
            return false
        }
        return folded(text) { isContained(inFolded: $0) }
    }

    /// Whether a folded text contains the needle.
    @usableFromInline
    func isContained(inFolded text: Bytes) -> Bool {
        if length == 0 { return true }
        var start = 0
        while let offset = search.firstOffset(in: text, from: start) {
            if options.isEmpty || !PredicateFolding.startsWithMark(text, from: offset + length) { return true }
            start = offset + 1
        }
        return false
    }

    // MARK: Pieces

    private func exactly(_ text: Bytes, at offset: Int) -> Bool {
        bytes.withUnsafeBytes { needle in
            guard let wanted = needle.baseAddress, let start = text.baseAddress, length > 0 else { return length == 0 }
            return memcmp(start + offset, wanted, length) == 0
        }
    }

    private func folded<Result>(_ text: Bytes, _ body: (Bytes) -> Result) -> Result {
        PredicateFolding.withFolded(text, options, body)
    }

    static func order(_ first: Bytes, _ second: Bytes) -> Int {
        if let a = first.baseAddress, let b = second.baseAddress {
            let order = Int(memcmp(a, b, min(first.count, second.count)))
            if order != 0 { return order }
        }
        return first.count - second.count
    }
}
