/// Radix sort by a word of each element: one pass for each byte in which the words differ.
enum RadixSort {
    /// Below this number of elements a comparison sort is as fast.
    static let threshold = 256

    /// Sorts index entries by prefix and code.
    static func sort(_ entries: UnsafeMutableBufferPointer<IndexEntry>) {
        if entries.count < threshold {
            var entries = entries
            return entries.sort { ($0.prefix, $0.code) < ($1.prefix, $1.code) }
        }
        LargeMemory.withBuffer(of: IndexEntry.self, capacity: entries.count) { spare in
            sort(entries, spare) { UInt64($0.code) }
            sort(entries, spare) { $0.prefix }
        }
    }

    /// Sorts elements, using a spare buffer of the same size; the sort is stable.
    @inline(__always)
    static func sort<Element: BitwiseCopyable>(
        _ elements: UnsafeMutableBufferPointer<Element>, _ spare: UnsafeMutableBufferPointer<Element>,
        by word: (Element) -> UInt64
    ) {
        guard let first = elements.first else { return }
        var differences: UInt64 = 0
        for element in elements { differences |= word(element) ^ word(first) }
        var (source, target) = (elements, UnsafeMutableBufferPointer(rebasing: spare[..<elements.count]))
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
            for shift in stride(from: UInt64(0), to: 64, by: 8) where differences >> shift & 0xFF != 0 {
                places.initialize(repeating: 0)
                for element in source { places[Int(word(element) >> shift & 0xFF)] += 1 }
                var start = 0
                for value in 0..<256 { (places[value], start) = (start, start + places[value]) }
                for element in source {
                    let value = Int(word(element) >> shift & 0xFF)
                    target.initializeElement(at: places[value], to: element)
                    places[value] += 1
                }
                swap(&source, &target)
            }
        }
        if source.baseAddress != elements.baseAddress { _ = elements.update(fromContentsOf: source) }
    }
}
