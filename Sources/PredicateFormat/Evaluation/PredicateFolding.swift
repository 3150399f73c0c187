import PropertyList
// Canonical decomposition is part of the standard library, for `==` on strings, but not yet public API. Foundation's
// public API loads Unicode tables, which costs more at each start of the process than all of this module.
// Only single characters are decomposed by it: its order of combining marks takes quadratic time.
@_spi(_Unicode) import Swift
import Synchronization

/// Normalises text for the comparisons `[c]` and `[d]`.
///
/// Text is decomposed canonically; then `[d]` drops combining accents and `[c]` folds case by Unicode's full folding,
/// so that ß equals SS. Plain ASCII is only lowered.
@usableFromInline
enum PredicateFolding {
    @usableFromInline typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The folded text in UTF-8; without options the bytes as they are.
    static func folded(_ bytes: Bytes, _ options: PredicateOptions) -> [UInt8] {
        if options.isEmpty { return Array(bytes) }
        let foldsCase = options.contains(.caseInsensitive)
        if isASCII(bytes) { return foldsCase ? bytes.map(lowered) : Array(bytes) }
        var result: [UInt8] = []
        var marks: [(scalar: Unicode.Scalar, order: UInt8)] = []
        let dropsAccents = options.contains(.diacriticInsensitive)
        var offset = 0
        // Short texts are folded whole, since the table of characters keeps what becomes of them.
        while offset < bytes.count, offset < 4096 || !Interruption.isDueAtStep {
            let (value, length) = PatternText.anyScalar(bytes, offset)
            offset += length
            guard value >= 0x80 else {
                flush(&marks, foldsCase, to: &result)
                append(Unicode.Scalar(UInt8(truncatingIfNeeded: value)), foldsCase, to: &result)
                continue
            }
            for scalar in decomposed(Unicode.Scalar(value) ?? "\u{FFFD}") where !(dropsAccents && isAccent(scalar)) {
                let order = scalar.properties.canonicalCombiningClass.rawValue
                if order > 0 {
                    marks.append((scalar, order))
                } else {
                    flush(&marks, foldsCase, to: &result)
                    append(scalar, foldsCase, to: &result)
                }
            }
        }
        flush(&marks, foldsCase, to: &result)
        return result
    }

    /// The canonical decomposition of a character: at most four.
    private static func decomposed(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        scalar.value < 0xC0 ? [scalar] : Array(String(scalar)._nfd)
    }

    /// Appends the marks after a letter in canonical order, which keeps those of a class in their order.
    private static func flush(
        _ marks: inout [(scalar: Unicode.Scalar, order: UInt8)], _ foldsCase: Bool, to result: inout [UInt8]
    ) {
        guard !marks.isEmpty else { return }
        if marks.count > 1 {
            let order = marks.indices.sorted { (marks[$0].order, $0) < (marks[$1].order, $1) }
            marks = order.map { marks[$0] }
        }
        for mark in marks { append(mark.scalar, foldsCase, to: &result) }
        marks.removeAll(keepingCapacity: true)
    }

    private static func append(_ scalar: Unicode.Scalar, _ foldsCase: Bool, to result: inout [UInt8]) {
        if scalar.isASCII {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            result.append(foldsCase ? lowered(byte) : byte)
        } else if foldsCase && scalar.properties.changesWhenCaseFolded {
            appendFolded(scalar, to: &result)
        } else {
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    static func folded(_ text: String, _ options: PredicateOptions) -> [UInt8] {
        withBytes(text) { folded($0, options) }
    }

    /// Calls a function with the folded bytes of a text. It allocates only for characters outside of the table.
    static func withFolded<Result>(_ bytes: Bytes, _ options: PredicateOptions, _ body: (Bytes) -> Result) -> Result {
        let isPlain = options.isEmpty || !options.contains(.caseInsensitive) && isASCII(bytes)
        if isPlain || bytes.isEmpty { return body(bytes) }
        let capacity = PredicateFoldingTable.capacity(bytes.count)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            if let count = PredicateFoldingTable.fold(bytes, options, into: buffer) {
                return body(Bytes(rebasing: buffer[..<count]))
            }
            return folded(bytes, options).withUnsafeBufferPointer(body)
        }
    }

    @inlinable
    static func withBytes<Result>(_ text: String, _ body: (Bytes) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = text
        return copy.withUTF8(body)
    }

    @inline(__always)
    static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    @inline(__always)
    static func isASCII(_ bytes: Bytes) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var offset = 0
        var seen: UInt64 = 0
        while offset + 8 <= raw.count {
            seen |= raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < raw.count {
            seen |= UInt64(raw[offset])
            offset += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    /// Whether the character at an offset is a combining mark of the preceding letter.
    static func startsWithMark(_ bytes: Bytes, from offset: Int) -> Bool {
        guard offset < bytes.count, let scalar = Unicode.Scalar(PatternText.anyScalar(bytes, offset).value)
        else { return false }
        return scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// The accents of Latin, Greek and Cyrillic; marks of other scripts are significant.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x0483...0x0487, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }

    /// Case folding is the lower case of the upper case, except for Cherokee, which folds upwards.
    private static func appendFolded(_ scalar: Unicode.Scalar, to result: inout [UInt8]) {
        let upper = scalar.properties.uppercaseMapping
        if (0x13F8...0x13FD).contains(scalar.value) || (0xAB70...0xABBF).contains(scalar.value) {
            result.append(contentsOf: upper.utf8)
            return
        }
        for part in upper.unicodeScalars {
            result.append(contentsOf: part.properties.lowercaseMapping.utf8)
        }
    }
}

/// A cache of the folded forms of common characters. With it the folding of non-ASCII text takes an eighth of the time
/// that decomposition takes.
enum PredicateFoldingTable {
    /// For each combination of options and each slot: 0 if the character has not been folded yet, else the bytes of its
    /// form from the lowest on, with their count plus one in the highest; `slow` for a character without such a form.
    ///
    /// Threads share the table. Its elements are atomic, and all threads store the same value.
    private nonisolated(unsafe) static let forms: UnsafeMutablePointer<Atomic<UInt64>> = {
        let forms = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 4 * count)
        for index in 0..<4 * count { (forms + index).initialize(to: Atomic(0)) }
        return forms
    }()

    private static let slow: UInt64 = 0xFF << 56
    private static let count = 0x530 + 0x270 + 0x100

    /// Latin, Greek and Cyrillic; their extensions and general punctuation; kana.
    @inline(__always)
    private static func slot(of scalar: UInt32) -> Int? {
        switch scalar {
        case ..<0x530: Int(scalar)
        case 0x1E00..<0x2070: Int(scalar) - 0x1E00 + 0x530
        case 0x3000..<0x3100: Int(scalar) - 0x3000 + 0x530 + 0x270
        default: nil
        }
    }

    /// An upper bound for the bytes of a folded text.
    static func capacity(_ count: Int) -> Int { 3 * count + 8 }

    /// Folds a text. Returns the number of bytes, or nil when a character is not in the table or its form depends on
    /// its neighbours.
    static func fold(
        _ text: UnsafeBufferPointer<UInt8>, _ options: PredicateOptions, into result: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        guard let output = result.baseAddress else { return nil }
        let forms = forms + Int(options.rawValue & 3) * count
        let foldsCase = options.contains(.caseInsensitive)
        let raw = UnsafeMutableRawPointer(output)
        var (from, to) = (0, 0)
        while from < text.count {
            let byte = text[from]
            if byte < 0x80 {
                output[to] = foldsCase ? PredicateFolding.lowered(byte) : byte
                from += 1
                to += 1
                continue
            }
            let (scalar, length) = PatternText.scalar(text, from)
            guard let slot = slot(of: scalar) else {
                // Han characters have one form only.
                guard 0x4E00...0x9FFF ~= scalar else { return nil }
                for index in 0..<length { output[to + index] = text[from + index] }
                from += length
                to += length
                continue
            }
            var form = forms[slot].load(ordering: .relaxed)
            if form == 0 {
                form = self.form(scalar, options)
                forms[slot].store(form, ordering: .relaxed)
            }
            if form == slow { return nil }
            raw.storeBytes(of: form.littleEndian, toByteOffset: to, as: UInt64.self)
            from += length
            to += Int(form >> 56) - 1
        }
        return to
    }

    /// The table's entry for a character.
    private static func form(_ value: UInt32, _ options: PredicateOptions) -> UInt64 {
        guard let scalar = Unicode.Scalar(value) else { return slow }
        let bytes = PredicateFolding.folded(String(scalar), options)
        // Marks may be reordered, and longer forms would exceed `capacity`.
        let isStarter = scalar.properties.canonicalCombiningClass == .notReordered
        guard isStarter || bytes.isEmpty, bytes.count < 8, bytes.count <= 3 * UTF8.width(scalar) else { return slow }
        var form = UInt64(bytes.count + 1) << 56
        for (index, byte) in bytes.enumerated() { form |= UInt64(byte) << UInt64(index * 8) }
        return form
    }
}
