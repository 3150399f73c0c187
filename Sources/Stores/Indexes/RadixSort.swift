/// Sorting index entries by prefix and code: a pass over all of them for each byte in which they differ.
enum RadixSort {
    /// Below this many a comparison sort is as fast.
    private static let threshold = 256

    static func sort(_ entries: inout [IndexEntry]) {
        if entries.count < threshold {
            entries.sort { ($0.prefix, $0.code) < ($1.prefix, $1.code) }
            return
        }
        var (prefixes, codes): (UInt64, UInt32) = (0, 0)
        let first = entries[0]
        for entry in entries {
            prefixes |= entry.prefix ^ first.prefix
            codes |= entry.code ^ first.code
        }
        var spare = [IndexEntry](repeating: first, count: entries.count)
        var counts = [Int](repeating: 0, count: 256)
        for byte in 0..<12 {
            let shift = UInt64((byte < 4 ? byte : byte - 4) * 8)
            let differs = byte < 4 ? UInt64(codes) >> shift & 0xFF : prefixes >> shift & 0xFF
            if differs == 0 { continue }
            pass(&entries, &spare, &counts, shift, byCode: byte < 4)
            swap(&entries, &spare)
        }
    }

    private static func pass(
        _ source: inout [IndexEntry], _ target: inout [IndexEntry], _ counts: inout [Int], _ shift: UInt64,
        byCode: Bool
    ) {
        @inline(__always) func digit(_ entry: IndexEntry) -> Int {
            Int((byCode ? UInt64(entry.code) : entry.prefix) >> shift & 0xFF)
        }
        counts.withUnsafeMutableBufferPointer { counts in
            counts.update(repeating: 0)
            source.withUnsafeBufferPointer { source in
                target.withUnsafeMutableBufferPointer { target in
                    for entry in source { counts[digit(entry)] += 1 }
                    var start = 0
                    for value in 0..<256 {
                        (counts[value], start) = (start, start + counts[value])
                    }
                    for entry in source {
                        let value = digit(entry)
                        target[counts[value]] = entry
                        counts[value] += 1
                    }
                }
            }
        }
    }
}
