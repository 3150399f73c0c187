/// A list of values that moves to a scratch file when it is long.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class ScratchList<Element: BitwiseCopyable> {
    private static var stride: Int { MemoryLayout<Element>.stride }
    /// The number of values in memory, and the number read at a time.
    private static var heldCount: Int { (4 << 20) / stride }
    private static var pieceCount: Int { (1 << 18) / stride }

    private let output: (any PropertyListOutput)?
    private var scratch: (any PropertyListScratch)?
    @exclusivity(unchecked) private var recent = GrowableBuffer<Element>()
    @exclusivity(unchecked) private(set) var count = 0
    /// The first failure of the scratch file, thrown when the values are read.
    private var failure: PropertyListError?

    /// - Parameter output: creates the scratch file; nil keeps all values in memory.
    init(_ output: (any PropertyListOutput)?) {
        self.output = output
    }

    @inline(__always)
    func append(_ value: Element) {
        recent.append(value)
        count &+= 1
        if recent.count >= Self.heldCount, output != nil { spill() }
    }

    /// Adds many values. Complexity: O(count).
    func append(contentsOf values: UnsafeBufferPointer<Element>) {
        if output != nil {
            if recent.count + values.count > Self.heldCount { spill() }
            // Reserves all memory at once instead of growing repeatedly.
            if recent.count + values.count > Self.pieceCount { recent.ensure(Self.heldCount - recent.count) }
        }
        recent.append(contentsOf: values)
        count &+= values.count
    }

    @inline(never)
    private func spill() {
        defer { recent.truncate(to: 0) }
        guard failure == nil, let output else { return }
        do throws(PropertyListError) {
            if self.scratch == nil { self.scratch = try output.makeScratch() }
            guard let scratch else { return }
            try scratch.write(UnsafeRawBufferPointer(start: recent.base, count: recent.count * Self.stride))
        } catch {
            failure = error
        }
    }

    /// Calls a function once with all values, in order; the list is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<Element>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        if let failure { throw failure }
        var remaining = count - recent.count
        if let scratch, remaining > 0 {
            let piece = GrowableBuffer<Element>(capacity: Self.pieceCount)
            while remaining > 0 {
                let length = min(remaining, Self.pieceCount)
                try scratch.read(into: UnsafeMutableRawBufferPointer(start: piece.base, count: length * Self.stride))
                try body(UnsafeBufferPointer(start: piece.base, count: length))
                remaining -= length
            }
        }
        try body(UnsafeBufferPointer(start: recent.base, count: recent.count))
        scratch = nil
        recent.removeAll()
        count = 0
    }
}
