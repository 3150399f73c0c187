import Glibc

/// A column's memory, freed when neither the column nor a snapshot needs it.
///
/// What is large is kept on large pages, with addresses in reserve behind it to grow into: items are looked up here and
/// there, and a page of the usual size is one of thousands then.
final class ColumnBuffer: @unchecked Sendable {
    // Guard: a snapshot reads only what the column does not change while the two share the buffer; it is grown by its
    // one owner.
    private(set) var base: UnsafeMutableRawPointer
    /// The bytes that are in use.
    private var byteCount: Int
    /// The addresses that a buffer of its own pages has; nil for one of the allocator's.
    private var large: LargeMemory?

    init<Element>(_ memory: UnsafeMutablePointer<Element>, capacity: Int) {
        base = UnsafeMutableRawPointer(memory)
        byteCount = capacity * MemoryLayout<Element>.stride
    }

    /// Memory of zeros, which costs nothing until it is touched.
    init(zeros byteCount: Int) {
        self.byteCount = byteCount
        large = LargeMemory(zeros: byteCount)
        guard let memory = large?.base ?? calloc(max(byteCount, 1), 1) else { Self.outOfMemory(byteCount) }
        base = memory
    }

    /// The same for memory that is going to be filled.
    init(toBeFilled byteCount: Int) {
        self.byteCount = byteCount
        large = LargeMemory(byteCount)
        guard let memory = large?.base ?? calloc(max(byteCount, 1), 1) else { Self.outOfMemory(byteCount) }
        base = memory
    }

    deinit {
        if let large { large.free() } else { free(base) }
    }

    func grow<Element>(to count: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        let wanted = count * MemoryLayout<Element>.stride
        if let large, wanted <= large.byteCount {
            byteCount = wanted
            return base.assumingMemoryBound(to: Element.self)
        }
        if let larger = LargeMemory(wanted) {
            memcpy(larger.base, base, byteCount)
            if let large { large.free() } else { free(base) }
            large = larger
            base = larger.base
        } else if let large {
            guard let grown = malloc(wanted) else { Self.outOfMemory(wanted) }
            memcpy(grown, base, byteCount)
            large.free()
            self.large = nil
            base = grown
        } else {
            guard let grown = realloc(base, wanted) else { Self.outOfMemory(wanted) }
            base = grown
        }
        byteCount = wanted
        return base.assumingMemoryBound(to: Element.self)
    }

    /// An allocator that cannot give memory leaves nothing that a store could do: stop with a clear message.
    private static func outOfMemory(_ byteCount: Int) -> Never {
        preconditionFailure("out of memory: a column of \(byteCount) bytes")
    }
}
