import Platform

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
