import Glibc

/// A column's memory, freed when neither the column nor a snapshot uses it.
///
/// Large buffers use large pages, with reserved addresses to grow into: items are accessed randomly, and pages of the
/// usual size would be thousands.
final class ColumnBuffer: @unchecked Sendable {
    // Guard: a snapshot reads only elements that the column does not change while both share the buffer; only the owner
    // grows it.
    private(set) var base: UnsafeMutableRawPointer
    /// The bytes in use.
    private var byteCount: Int
    /// The mapped memory; nil if it is from the allocator.
    private var large: LargeMemory?

    init<Element>(_ memory: UnsafeMutablePointer<Element>, capacity: Int) {
        base = UnsafeMutableRawPointer(memory)
        byteCount = capacity * MemoryLayout<Element>.stride
    }

    /// Zero-filled memory, which is free of charge until it is accessed.
    init(zeros byteCount: Int) {
        self.byteCount = byteCount
        large = LargeMemory(zeros: byteCount)
        guard let memory = large?.base ?? calloc(max(byteCount, 1), 1) else { Self.outOfMemory(byteCount) }
        base = memory
    }

    /// Memory that is going to be filled.
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

    /// A store cannot continue without memory: stop with a clear message.
    private static func outOfMemory(_ byteCount: Int) -> Never {
        preconditionFailure("out of memory: a column of \(byteCount) bytes")
    }
}
