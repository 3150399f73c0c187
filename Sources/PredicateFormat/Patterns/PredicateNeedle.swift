import Glibc

/// A constant text that others are compared with or searched for, prepared once.
///
/// Judging ASCII text, and any text without options, allocates nothing. Other text is folded first.
@usableFromInline
package struct PredicateNeedle: Sendable {
    @usableFromInline package typealias Bytes = UnsafeBufferPointer<UInt8>

    let options: PredicateOptions
    /// Folded by the options.
    let bytes: [UInt8]

    /// The first eight bytes at most, and which bits of a text's word to set and to keep before the two are compared.
    /// Setting bit 5 where a lower-case letter is wanted makes exactly that letter in both cases equal to it.
    private let word: UInt64
    private let fold: UInt64
    private let mask: UInt64
    /// The first byte in all eight places, and the bit to set for its case.
    private let lead: UInt64
    private let leadFold: UInt64
    private let length: Int
    private let foldsCase: Bool
    /// For needles longer than a word, how to search long texts for them; see `placeLinearly`.
    private let borders: [Int]

    /// Texts longer than this are searched for long needles by a linear algorithm, after folding.
    private static let shortText = 256

    @usableFromInline
    init(_ text: String, _ options: PredicateOptions) {
        let bytes = PredicateFolding.folded(text, options)
        self.options = options
        self.bytes = bytes
        length = bytes.count
        foldsCase = options.contains(.caseInsensitive)
        borders = bytes.count > 8 ? Self.borders(of: bytes) : []
        var (word, fold, mask): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for (index, byte) in bytes.prefix(8).enumerated() {
            let shift = UInt64(index * 8)
            word |= UInt64(byte) << shift
            mask |= 0xFF << shift
            if foldsCase && byte &- 0x61 < 26 { fold |= 0x20 << shift }
        }
        (self.word, self.fold, self.mask) = (word, fold, mask)
        lead = (word & 0xFF) &* 0x0101_0101_0101_0101
        leadFold = (fold & 0xFF) &* 0x0101_0101_0101_0101
    }

    // MARK: Comparing

    /// Below 0, 0 or above 0 as the text is before, equal to or after this one, by bytes and so by Unicode scalars.
    @usableFromInline
    func order(of text: Bytes) -> Int {
        if options.isEmpty { return bytes.withUnsafeBufferPointer { Self.order(text, $0) } }
        if PredicateFolding.isASCII(text) {
            let shared = min(text.count, length)
            return bytes.withUnsafeBufferPointer { needle in
                for index in 0..<shared {
                    let byte = foldsCase ? PredicateFolding.lowered(text[index]) : text[index]
                    if byte != needle[index] { return byte < needle[index] ? -1 : 1 }
                }
                return text.count < length ? -1 : text.count == length ? 0 : 1
            }
        }
        return folded(text) { folded in bytes.withUnsafeBufferPointer { Self.order(folded, $0) } }
    }

    @usableFromInline
    func equals(_ text: Bytes) -> Bool {
        if options.isEmpty {
            return text.count == length && matches(text, at: 0)
        }
        if PredicateFolding.isASCII(text) { return text.count == length && matches(text, at: 0) }
        return order(of: text) == 0
    }

    @usableFromInline
    func begins(_ text: Bytes) -> Bool {
        if options.isEmpty { return text.count >= length && matches(text, at: 0) }
        if PredicateFolding.isASCII(text) { return text.count >= length && matches(text, at: 0) }
        return folded(text) { folded in
            folded.count >= length && exactly(folded, at: 0) && !PredicateFolding.startsWithMark(folded, from: length)
        }
    }

    @usableFromInline
    func ends(_ text: Bytes) -> Bool {
        if options.isEmpty || PredicateFolding.isASCII(text) {
            return text.count >= length && matches(text, at: text.count - length)
        }
        return folded(text) { $0.count >= length && exactly($0, at: $0.count - length) }
    }

    // MARK: Searching

    /// Whether the text contains this one. An empty needle is in every text.
    @usableFromInline
    package func isContained(in text: Bytes) -> Bool {
        if length == 0 { return true }
        if let place = place(in: text, from: 0) {
            // What follows an ASCII match may be an accent on its last letter.
            if options.isEmpty || place + length == text.count || text[place + length] < 0x80 { return true }
        } else if options.isEmpty || PredicateFolding.isASCII(text) {
            return false
        }
        return folded(text) { isContained(inFolded: $0) }
    }

    /// Whether a text that is folded already contains this one.
    @usableFromInline
    func isContained(inFolded text: Bytes) -> Bool {
        if length == 0 { return true }
        var start = 0
        while let place = place(in: text, from: start) {
            if options.isEmpty || !PredicateFolding.startsWithMark(text, from: place + length) { return true }
            start = place + 1
        }
        return false
    }

    /// The first place of the needle's bytes in a text, ASCII case folded if the options say so.
    @inline(__always)
    private func place(in text: Bytes, from start: Int) -> Int? {
        let last = text.count - length
        if last < start { return nil }
        if length > 8 && text.count > Self.shortText { return placeLinearly(in: text, from: start) }
        // Eight bytes at a time are compared with the needle's first; only where it stands is the rest looked at.
        let raw = UnsafeRawBufferPointer(text)
        var block = start
        while block <= last {
            let bits = Self.word(of: raw, at: block)
            let difference = (bits | leadFold) ^ lead
            var found = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            while found != 0 {
                let place = block + found.trailingZeroBitCount / 8
                if place > last { return nil }
                if (Self.word(of: raw, at: place) | fold) & mask == word && (length <= 8 || matches(text, at: place)) {
                    return place
                }
                found &= found &- 1
            }
            block += 8
        }
        return nil
    }

    /// The eight bytes from an offset on, the first lowest; zeros for what is behind the end.
    @inline(__always)
    private static func word(of raw: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        let left = raw.count - offset
        if left >= 8 { return raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        if raw.count >= 8 {
            return raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self) >> UInt64(8 * (8 - left))
        }
        var bits: UInt64 = 0
        for index in offset..<raw.count { bits |= UInt64(raw[index]) << UInt64(8 * (index - offset)) }
        return bits
    }

    /// The same by Knuth, Morris and Pratt, whose time does not grow with the product of both lengths.
    private func placeLinearly(in text: Bytes, from start: Int) -> Int? {
        var matched = 0
        for place in start..<text.count {
            let byte = foldsCase ? PredicateFolding.lowered(text[place]) : text[place]
            while matched > 0 && bytes[matched] != byte { matched = borders[matched - 1] }
            if bytes[matched] == byte { matched += 1 }
            if matched == length { return place + 1 - length }
        }
        return nil
    }

    /// For each beginning of a text, the length of the longest proper beginning that is also its end.
    private static func borders(of bytes: [UInt8]) -> [Int] {
        var borders = [Int](repeating: 0, count: bytes.count)
        var matched = 0
        for index in bytes.indices.dropFirst() {
            while matched > 0 && bytes[matched] != bytes[index] { matched = borders[matched - 1] }
            if bytes[matched] == bytes[index] { matched += 1 }
            borders[index] = matched
        }
        return borders
    }

    // MARK: Pieces

    /// Whether the needle's bytes stand at an offset, ASCII case folded if the options say so. They must fit.
    @inline(__always)
    private func matches(_ text: Bytes, at offset: Int) -> Bool {
        if !foldsCase { return exactly(text, at: offset) }
        return bytes.withUnsafeBufferPointer { needle in
            for index in 0..<length where PredicateFolding.lowered(text[offset + index]) != needle[index] {
                return false
            }
            return true
        }
    }

    private func exactly(_ text: Bytes, at offset: Int) -> Bool {
        bytes.withUnsafeBytes { needle in
            guard let wanted = needle.baseAddress, let start = text.baseAddress, length > 0 else { return length == 0 }
            return memcmp(start + offset, wanted, length) == 0
        }
    }

    private func folded<Result>(_ text: Bytes, _ body: (Bytes) -> Result) -> Result {
        if options.isEmpty { return body(text) }
        return PredicateFolding.folded(text, options).withUnsafeBufferPointer(body)
    }

    static func order(_ first: Bytes, _ second: Bytes) -> Int {
        if let a = first.baseAddress, let b = second.baseAddress {
            let order = Int(memcmp(a, b, min(first.count, second.count)))
            if order != 0 { return order }
        }
        return first.count - second.count
    }
}
