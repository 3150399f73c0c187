/// A set of rows, a bit each.
struct RowSet {
    private var words: [UInt64] = []

    /// Adds a row; returns whether it was missing.
    @inline(__always)
    mutating func insert(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: max(word + 1, words.count * 2) - words.count))
        }
        let bit = UInt64(1) << UInt64(row & 63)
        let isNew = words[word] & bit == 0
        words[word] |= bit
        return isNew
    }

    /// Removes a row; returns whether it was present.
    @inline(__always)
    mutating func remove(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        guard word < words.count else { return false }
        let bit = UInt64(1) << UInt64(row & 63)
        let wasThere = words[word] & bit != 0
        words[word] &= ~bit
        return wasThere
    }

    @inline(__always)
    func contains(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        return word < words.count && words[word] & 1 << UInt64(row & 63) != 0
    }

    /// Calls a body with each row, in ascending order, until it returns false.
    @inline(__always)
    func forEach(_ body: (UInt32) throws -> Bool) rethrows {
        for word in words.indices {
            var bits = words[word]
            while bits != 0 {
                let row = UInt32(word << 6 + bits.trailingZeroBitCount)
                bits &= bits - 1
                if try !body(row) { return }
            }
        }
    }
}
