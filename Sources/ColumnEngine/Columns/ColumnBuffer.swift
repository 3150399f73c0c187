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

/// Memory mapped from the kernel, zero-filled at the first access; on pages of two megabytes from some megabytes on, if
/// the kernel grants them.
package struct LargeMemory {
    let base: UnsafeMutableRawPointer
    /// The size of the address range: more than requested, to grow into.
    let byteCount: Int

    private static let page = 2 << 20
    /// Minimum size in bytes; the allocator serves less, since large pages would be mostly unused.
    static let least = 4 << 20
    /// Minimum size of short-lived memory.
    static let leastForAMoment = 1 << 20
    /// Minimum size for zeros; the allocator clears less than this as fast.
    private static let fewPages = 8 << 10
    /// The address range as a multiple of the requested size.
    private static let reserve = 8

    /// Nil for small memory, and if the system grants no addresses.
    init?(_ wanted: Int, least: Int = Self.least) {
        guard wanted >= least, wanted < Int.max / 16 else { return nil }
        for factor in [Self.reserve, 1] {
            let size = (wanted * factor + Self.page - 1) / Self.page * Self.page
            if let memory = Self.map(size) {
                (base, byteCount) = (memory, size)
                return
            }
        }
        return nil
    }

    /// Zeros on pages of the usual size, which occupy no memory before they are accessed: the allocator would clear its
    /// cached memory. Nil for a few pages, and if the system grants no addresses.
    init?(zeros wanted: Int) {
        guard wanted >= Self.fewPages, wanted < Int.max / 16 else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let memory = mmap(nil, wanted, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            return nil
        }
        (base, byteCount) = (memory, wanted)
    }

    /// Maps addresses aligned to large pages.
    private static func map(_ size: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let whole = mmap(nil, size + page, PROT_READ | PROT_WRITE, flags, -1, 0), whole != MAP_FAILED else {
            return nil
        }
        let before = (page - Int(bitPattern: whole) % page) % page
        if before > 0 { munmap(whole, before) }
        if page > before { munmap(whole + before + size, page - before) }
        // If none are available, the pages are of the usual size.
        madvise(whole + before, size, MADV_HUGEPAGE)
        return whole + before
    }

    func free() {
        munmap(base, byteCount)
    }

    /// Calls a body with an uninitialised buffer. Large buffers are mapped and unmapped: the allocator would keep the
    /// memory between later allocations.
    static func withBuffer<Element: BitwiseCopyable, Result>(
        of type: Element.Type, capacity: Int, _ body: (UnsafeMutableBufferPointer<Element>) throws -> Result
    ) rethrows -> Result {
        if let memory = LargeMemory(capacity * MemoryLayout<Element>.stride, least: leastForAMoment) {
            defer { memory.free() }
            let base = memory.base.bindMemory(to: Element.self, capacity: capacity)
            return try body(UnsafeMutableBufferPointer(start: base, count: capacity))
        }
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        return try body(buffer)
    }

    /// Requests large pages for the allocator's memory, which is about to be filled.
    package static func advise(_ memory: UnsafeRawBufferPointer) {
        guard let start = memory.baseAddress, memory.count >= page * 2 else { return }
        let before = (page - Int(bitPattern: start) % page) % page
        madvise(UnsafeMutableRawPointer(mutating: start + before), (memory.count - before) / page * page, MADV_HUGEPAGE)
    }
}
