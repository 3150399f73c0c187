/// The groups of short first words that were met last, and how many rows each has had: most rows need no more than this to
/// find theirs.
struct FirstWordCache {
    /// A word of at most seven bytes, with its length in the eighth.
    struct Key {
        fileprivate let bits: UInt64

        /// Nil for a longer word, and for what is near its end and cannot be read as eight bytes.
        @inline(__always)
        init?(_ text: UnsafeBufferPointer<UInt8>) {
            guard text.count >= 8, let base = text.baseAddress else { return nil }
            let start = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self))
            // The lowest byte that is a space has the lowest of these bits.
            let other = start ^ 0x2020_2020_2020_2020
            let spaces = (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
            guard spaces != 0 else { return nil }
            let count = UInt64(truncatingIfNeeded: spaces.trailingZeroBitCount &>> 3)
            bits = start & ~(.max &<< (count &* 8)) | count &<< 56
        }
    }

    private struct Entry {
        /// No word has eight bytes of ones.
        var bits = UInt64.max
        var number: UInt32 = 0
        var count: UInt32 = 0
    }

    /// Enough that words of few groups rarely meet in one place.
    private static let capacity = 1024
    private let entries: UnsafeMutableBufferPointer<Entry>

    private init(_ entries: UnsafeMutableBufferPointer<Entry>) {
        self.entries = entries
        entries.initialize(repeating: Entry())
    }

    static func using(_ body: (inout FirstWordCache) -> Void) {
        withUnsafeTemporaryAllocation(of: Entry.self, capacity: capacity) { entries in
            var cache = FirstWordCache(entries)
            body(&cache)
        }
    }

    /// The number of a word's group, which has one row more now.
    @inline(__always)
    mutating func number(_ key: Key) -> UInt32? {
        let place = Self.place(key)
        guard entries[place].bits == key.bits else { return nil }
        entries[place].count &+= 1
        return entries[place].number
    }

    /// Puts a group in, with one row.
    ///
    /// - Returns: the one that had its place, and how many rows that one has had.
    mutating func replace(_ key: Key, _ number: UInt32) -> (number: Int, count: UInt32)? {
        let old = entries[Self.place(key)]
        entries[Self.place(key)] = Entry(bits: key.bits, number: number, count: 1)
        return old.count > 0 ? (Int(old.number), old.count) : nil
    }

    /// Calls a body with the groups that are in, and how many rows each has had.
    func counts(_ body: (Int, UInt32) -> Void) {
        for entry in entries where entry.count > 0 { body(Int(entry.number), entry.count) }
    }

    @inline(__always)
    private static func place(_ key: Key) -> Int {
        Int(truncatingIfNeeded: (key.bits &* 0x9E37_79B9_7F4A_7C15) &>> 54)
    }
}
