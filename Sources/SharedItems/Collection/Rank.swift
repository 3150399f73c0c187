import ColumnEngine
import Glibc
import ItemArchive

/// Positions of items that several hosts order without coordination: byte strings, compared bytewise.
///
/// A rank is a number of eight bytes, most significant first, and a random tail, so that two hosts that insert at the
/// same position at the same time make different ranks. If two neighbours leave no number between them, another number
/// is appended: a rank grows by eight bytes after about 60 consecutive insertions into the same gap. This is fractional
/// indexing in base 256.
enum Rank {
    /// A longer rank causes its neighbours to get new ones, too.
    static let longLength = 36
    /// Maximum length of a rank from a server.
    static let lengthLimit = RecordChange.rankLimit

    /// The distance of ranks of appended or prepended items: room for later insertions.
    private static let step: UInt64 = 1 << 24
    private static let middle: UInt64 = 1 << 62

    /// Ranks between two others, ascending.
    ///
    /// - Parameters:
    ///   - count: the number of ranks.
    ///   - low: the rank before the first; nil at the beginning.
    ///   - high: the rank after the last; nil at the end.
    ///   - tail: returns random bits.
    /// - Returns: `count` ranks.
    static func ranks(_ count: Int, after low: [UInt8]?, before high: [UInt8]?, tail: () -> UInt32) -> [[UInt8]] {
        var prefix: [UInt8] = []
        var low = low.map { $0[...] }
        var high = high.map { $0[...] }
        while true {
            let first = low.map(number) ?? 0
            let last = high.map(number) ?? .max
            let gap = last > first ? last - first : 0
            if gap > UInt64(count) {
                let distance = min(gap / UInt64(count + 1), step)
                let start: UInt64
                switch (low, high) {
                case (nil, nil): start = middle
                case (nil, _?): start = last - distance * UInt64(count + 1)
                case (_?, nil): start = first
                // In the middle of the gap, with equal room on both sides.
                case (_?, _?): start = first + (gap - distance * UInt64(count + 1)) / 2
                }
                return (1...max(count, 1)).prefix(count).map {
                    prefix + bytes(start + distance * UInt64($0)) + bytes(tail())
                }
            }
            prefix += bytes(first)
            low = low?.dropFirst(8) ?? []
            let rest = high?.dropFirst(8) ?? []
            high = first < last || rest.isEmpty ? nil : rest
        }
    }

    /// The first eight bytes, padded with zeros.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        let first = bytes.prefix(8)
        return first.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - first.count))
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

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
        var compacted: [UInt8] = [0]
        compacted.reserveCapacity(buffer.count - garbage)
        for row in places.indices {
            guard let range = range(UInt32(row)) else { continue }
            places[row] = UInt32(compacted.count)
            compacted += buffer[(range.lowerBound - 2)..<range.upperBound]
        }
        (buffer, garbage) = (compacted, 0)
    }
}

/// The places of a store's items in the order of all hosts.
struct ItemPlaces {
    /// The store's rows; nil before they are loaded.
    var columns: ColumnStore?
    var ranks = RankTable()

    func placed(_ change: RemoteChange, among unranked: Set<UInt32>) -> ItemChange {
        guard let columns, change.change.kind == .insert || change.change.kind == .move else { return change.change }
        var placed = change.change
        var position = position(of: change.rank, placed.itemKey, in: columns, unranked)
        if placed.kind == .move {
            if let row = columns.row(ofKey: placed.itemKey), columns.position(of: row) < position { position -= 1 }
        }
        placed.position = position
        return placed
    }

    mutating func didApply(_ change: RemoteChange) {
        guard let columns, change.change.kind == .insert || change.change.kind == .move else { return }
        if let row = columns.row(ofKey: change.change.itemKey) { ranks.set(row, change.rank) }
    }

    func precedes(_ row: UInt32, _ other: UInt32) -> Bool {
        guard let columns, let rank = ranks[other] else { return true }
        let order = ranks.compare(row, rank)
        return order != 0 ? order < 0 : columns.keyString(row) < columns.keyString(other)
    }

    /// The number of items before a rank. O(log n).
    private func position(
        of rank: [UInt8], _ key: String, in columns: ColumnStore, _ unranked: Set<UInt32>
    ) -> Int {
        var (low, high) = (0, columns.count)
        while low < high {
            let middle = (low + high) / 2
            var probe = middle
            while !unranked.isEmpty, probe < high, unranked.contains(columns.row(at: probe)) { probe += 1 }
            guard probe < high else {
                high = middle
                continue
            }
            let row = columns.row(at: probe)
            let order = ranks.compare(row, rank)
            if order < 0 || (order == 0 && columns.keyString(row) < key) { low = probe + 1 } else { high = middle }
        }
        return low
    }
}
