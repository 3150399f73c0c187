import Glibc

/// Memory mapped from the kernel, zero-filled at the first access; on pages of two megabytes for some megabytes and more,
/// where the kernel grants them.
package struct LargeMemory {
    let base: UnsafeMutableRawPointer
    /// The bytes that there are addresses for: more than asked for, to grow into.
    let byteCount: Int

    private static let page = 2 << 20
    /// Less than this stays with the allocator: large pages would hold little else than room.
    static let least = 4 << 20
    /// The same for what is soon given back.
    static let leastForAMoment = 1 << 20
    /// Less than this the allocator clears as fast.
    private static let fewPages = 8 << 10
    /// How much room to grow there is, as a multiple.
    private static let reserve = 8

    /// Nil for what is not large, and when the system gives no addresses.
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

    /// Zeros on pages of the usual size, none of which is there before it is touched: the allocator would clear what it has
    /// in stock. Nil for what are a few of them only, and when the system gives no addresses.
    init?(zeros wanted: Int) {
        guard wanted >= Self.fewPages, wanted < Int.max / 16 else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let memory = mmap(nil, wanted, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
            return nil
        }
        (base, byteCount) = (memory, wanted)
    }

    /// Addresses that begin at a large page's beginning.
    private static func map(_ size: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let whole = mmap(nil, size + page, PROT_READ | PROT_WRITE, flags, -1, 0), whole != MAP_FAILED else {
            return nil
        }
        let before = (page - Int(bitPattern: whole) % page) % page
        if before > 0 { munmap(whole, before) }
        if page > before { munmap(whole + before + size, page - before) }
        // Where there are none, the pages are of the usual size.
        madvise(whole + before, size, MADV_HUGEPAGE)
        return whole + before
    }

    func free() {
        munmap(base, byteCount)
    }

    /// A buffer, not initialised, for as long as a body runs. What is large comes from the system and goes back to it: the
    /// allocator would keep it between what is allocated meanwhile.
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

    /// Asks for large pages in the allocator's memory, which is going to be filled at once.
    package static func advise(_ memory: UnsafeRawBufferPointer) {
        guard let start = memory.baseAddress, memory.count >= page * 2 else { return }
        let before = (page - Int(bitPattern: start) % page) % page
        madvise(UnsafeMutableRawPointer(mutating: start + before), (memory.count - before) / page * page, MADV_HUGEPAGE)
    }
}
