/// Memory for large tables: in huge pages if available, because hash and offset tables are accessed randomly.
package enum PageMemory {
    private static let hugePage = 2 << 20
    private static let page = 4096
    /// Minimum size for memory mapped from the system, and unmapped when it is freed. The allocator may keep smaller
    /// blocks, so that the next small archive reuses their pages.
    private static let pageThreshold = 1 << 19
    /// Minimum size for huge pages; partly used ones are then a small share.
    private static let threshold = 4 * hugePage
    /// Minimum size for huge pages of a second buffer.
    private static let secondThreshold = 32 * hugePage

    /// Allocates memory, zeroed on request. It is released by `free` with the same size.
    ///
    /// Ends the process if memory runs out, as usual in Swift.
    package static func allocate(_ bytes: Int, isZeroed: Bool = true) -> UnsafeMutableRawPointer {
        // Hash tables are accessed throughout.
        if bytes >= (isZeroed ? hugePage : threshold) {
            // Aligns to a huge page's boundary; the rest before and after is unmapped.
            let size = rounded(bytes)
            let whole = mmap(nil, size + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
            guard let whole, whole != MAP_FAILED else { preconditionFailure("out of memory: \(bytes) bytes") }
            let waste = (hugePage - Int(bitPattern: whole) % hugePage) % hugePage
            if waste > 0 { munmap(whole, waste) }
            let start = whole + waste
            if hugePage - waste > 0 { munmap(start + size, hugePage - waste) }
            Self.preferLarge(start, size)
            return start
        }
        if bytes >= pageThreshold {
            // A hash table would fault on each page, mostly twice: for a read, then for a write.
            let flags = MAP_PRIVATE | MAP_ANON | (isZeroed ? populated : 0)
            let pages = mmap(nil, rounded(bytes), PROT_READ | PROT_WRITE, flags, -1, 0)
            guard let pages, pages != MAP_FAILED else { preconditionFailure("out of memory: \(bytes) bytes") }
            return pages
        }
        guard let memory = isZeroed ? calloc(max(bytes, 1), 1) : malloc(max(bytes, 1)) else {
            preconditionFailure("out of memory: \(bytes) bytes")
        }
        return memory
    }

    /// Releases memory.
    package static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes >= pageThreshold { munmap(memory, rounded(bytes)) } else { Platform.free(memory) }
    }

    /// Requests huge pages for memory of another allocator that is about to be filled.
    package static func preferHugePages(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        guard bytes >= secondThreshold else { return }
        let waste = (hugePage - Int(bitPattern: memory) % hugePage) % hugePage
        preferLarge(memory + waste, (bytes - waste) / hugePage * hugePage)
    }

    /// Copies `count` bytes of memory that is no longer needed, and releases it piece by piece, so that at most one
    /// piece exists twice. The caller still frees it.
    package static func move(
        _ source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, count: Int, of bytes: Int
    ) {
        guard bytes >= pageThreshold else { return target.copyMemory(from: source, byteCount: count) }
        var start = 0
        while start < count {
            let piece = min(self.piece(ofBytes: bytes), count - start)
            (target + start).copyMemory(from: source + start, byteCount: piece)
            discard(source, upTo: start + piece, of: bytes)
            start += piece
        }
    }

    /// Releases the whole pages before `end`; their bytes read as 0 afterwards.
    package static func discard(_ memory: UnsafeMutableRawPointer, upTo end: Int, from start: Int = 0, of bytes: Int) {
        guard bytes >= pageThreshold else { return }
        let unit = bytes >= threshold ? hugePage : page
        let (first, last) = (start / unit * unit, end / unit * unit)
        if last > first { empty(memory + first, last - first) }
    }

    /// The piece size for the release of a number of bytes.
    package static func piece(ofBytes bytes: Int) -> Int { bytes >= threshold ? hugePage : 1 << 18 }

    private static func rounded(_ bytes: Int) -> Int {
        let unit = bytes >= threshold ? hugePage : page
        return (bytes + unit - 1) / unit * unit
    }

    // MARK: - The kernel's part

    #if os(Linux) && !CUBBY_PLAIN_POSIX
    private static let populated = MAP_POPULATE

    private static func preferLarge(_ start: UnsafeMutableRawPointer, _ size: Int) {
        madvise(start, size, MADV_HUGEPAGE)
    }

    private static func empty(_ start: UnsafeMutableRawPointer, _ size: Int) {
        madvise(start, size, MADV_DONTNEED)
    }
    #else
    // Tested on Linux, with CUBBY_PLAIN_POSIX; untested elsewhere.
    private static let populated: CInt = 0

    private static func preferLarge(_ start: UnsafeMutableRawPointer, _ size: Int) {}

    /// Replaces the pages with new ones.
    private static func empty(_ start: UnsafeMutableRawPointer, _ size: Int) {
        _ = mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0)
    }
    #endif
}
