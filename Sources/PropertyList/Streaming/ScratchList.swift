/// Values in a row, which go to a scratch file when they become many.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class ScratchList<Element: BitwiseCopyable> {
    private static var stride: Int { MemoryLayout<Element>.stride }
    /// How many are held in memory, and how many are read at a time.
    private static var heldCount: Int { (4 << 20) / stride }
    private static var pieceCount: Int { (1 << 18) / stride }

    private let output: (any PropertyListOutput)?
    private var scratch: (any PropertyListScratch)?
    @exclusivity(unchecked) private var recent = GrowableBuffer<Element>()
    @exclusivity(unchecked) private(set) var count = 0
    /// What went wrong with the scratch file; told when the values are read.
    private var failure: PropertyListError?

    /// - Parameter output: makes the scratch file; nil to hold all in memory.
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
            // All the room at once, not to grow and move time and again.
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

    /// Gives all values, in order, once; the list is empty afterwards.
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
