/// Numbers in a row, which go to a scratch file when they become many.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
package final class NumberList {
    /// How many are held in memory, and how many are read at a time.
    private static let heldCount = 1 << 20
    private static let pieceCount = 1 << 16

    private let output: (any PropertyListOutput)?
    private var scratch: (any PropertyListScratch)?
    @exclusivity(unchecked) private var recent = GrowableBuffer<UInt32>()
    @exclusivity(unchecked) package private(set) var count = 0
    /// What went wrong with the scratch file; told when the numbers are read.
    private var failure: PropertyListError?

    /// - Parameter output: makes the scratch file; nil to hold all in memory.
    package init(_ output: (any PropertyListOutput)?) {
        self.output = output
    }

    @inline(__always)
    package func append(_ number: UInt32) {
        recent.append(number)
        count &+= 1
        if recent.count >= Self.heldCount, output != nil { spill() }
    }

    /// Adds many numbers. Complexity: O(count).
    package func append(contentsOf numbers: UnsafeBufferPointer<UInt32>) {
        if output != nil {
            if recent.count + numbers.count > Self.heldCount { spill() }
            // All the room at once, not to grow and move time and again.
            if recent.count + numbers.count > Self.pieceCount { recent.ensure(Self.heldCount - recent.count) }
        }
        recent.append(contentsOf: numbers)
        count &+= numbers.count
    }

    @inline(never)
    private func spill() {
        defer { recent.truncate(to: 0) }
        guard failure == nil, let output else { return }
        do throws(PropertyListError) {
            if self.scratch == nil { self.scratch = try output.makeScratch() }
            guard let scratch else { return }
            try scratch.write(UnsafeRawBufferPointer(start: recent.base, count: recent.count * 4))
        } catch {
            failure = error
        }
    }

    /// Gives all numbers, in order, once; the list is empty afterwards.
    package func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        if let failure { throw failure }
        var remaining = count - recent.count
        if let scratch, remaining > 0 {
            let piece = GrowableBuffer<UInt32>(capacity: Self.pieceCount)
            while remaining > 0 {
                let length = min(remaining, Self.pieceCount)
                try scratch.read(into: UnsafeMutableRawBufferPointer(start: piece.base, count: length * 4))
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
