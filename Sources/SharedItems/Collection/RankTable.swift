import Glibc

/// The rank of each row, in one buffer: an item takes five bytes more than its rank.
struct RankTable {
    /// The offset of each row's rank: a byte for the length, then the bytes; 0 for none.
    private var places: [UInt32] = []
    private var buffer: [UInt8] = [0]
    private var garbage = 0

    subscript(row: UInt32) -> [UInt8]? {
        guard let range = range(row) else { return nil }
        return Array(buffer[range])
    }

    mutating func set(_ row: UInt32, _ rank: some Collection<UInt8>) {
        remove(row)
        if places.count <= Int(row) {
            places += [UInt32](repeating: 0, count: max(Int(row) + 1 - places.count, places.count / 2))
        }
        if garbage > 1 << 16, garbage > buffer.count / 2 { compact() }
        // Hosts make no ranks of more than 4 GB in all: a row without a rank follows all others.
        guard buffer.count < Int(UInt32.max), rank.count <= Rank.lengthLimit else { return }
        places[Int(row)] = UInt32(buffer.count)
        buffer.append(UInt8(truncatingIfNeeded: rank.count & 0x7F))
        buffer.append(UInt8(truncatingIfNeeded: rank.count >> 7))
        buffer += rank
    }

    mutating func remove(_ row: UInt32) {
        guard let range = range(row) else { return }
        garbage += range.count + 2
        places[Int(row)] = 0
    }

    /// Compares the row's rank with another; ties are ordered by key, which the caller compares.
    ///
    /// - Returns: less than 0, 0 or more, as `memcmp`; a row without a rank is greater than any rank.
    func compare(_ row: UInt32, _ rank: [UInt8]) -> Int {
        guard let range = range(row) else { return 1 }
        return buffer.withUnsafeBytes { buffer in
            rank.withUnsafeBytes { rank in
                guard let first = buffer.baseAddress, let second = rank.baseAddress else { return range.count }
                let order = memcmp(first + range.lowerBound, second, min(range.count, rank.count))
                return order != 0 ? Int(order) : range.count - rank.count
            }
        }
    }

    private func range(_ row: UInt32) -> Range<Int>? {
        guard Int(row) < places.count, places[Int(row)] != 0 else { return nil }
        let place = Int(places[Int(row)])
        let count = Int(buffer[place]) | Int(buffer[place + 1]) << 7
        return place + 2..<place + 2 + count
    }

    private mutating func compact() {
        var kept: [UInt8] = [0]
        kept.reserveCapacity(buffer.count - garbage)
        for row in places.indices {
            guard let range = range(UInt32(row)) else { continue }
            places[row] = UInt32(kept.count)
            kept += buffer[(range.lowerBound - 2)..<range.upperBound]
        }
        (buffer, garbage) = (kept, 0)
    }
}
