import Glibc

/// Memory for tables that grow large: in huge pages where the system has them, because tables of hashes and of offsets
/// are read in no order.
package enum PageMemory {
    private static let hugePage = 2 << 20
    private static let page = 4096
    /// From here on memory comes from the system as pages, and goes back to it when it is freed: the allocator would keep
    /// it. What is smaller the allocator may keep, so that the next small archive meets pages that are there.
    private static let pageThreshold = 1 << 19
    /// From here on as huge pages: a few of them that are only partly in use are little beside the whole.
    private static let threshold = 4 * hugePage
    /// From here on memory that lies beside such memory gets them, too.
    private static let secondThreshold = 32 * hugePage

    /// Memory of `bytes` bytes, to be given back to `free` with the same size; all 0 when that is asked for.
    ///
    /// Running out of memory ends the process, as everywhere in Swift.
    package static func allocate(_ bytes: Int, isZeroed: Bool = true) -> UnsafeMutableRawPointer {
        // A table that is looked up all over is in use throughout.
        if bytes >= (isZeroed ? hugePage : threshold) {
            // Begin at a huge page's boundary: what lies before and behind it goes back at once.
            let size = rounded(bytes)
            let whole = mmap(nil, size + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let whole, whole != MAP_FAILED else { preconditionFailure("out of memory: \(bytes) bytes") }
            let waste = (hugePage - Int(bitPattern: whole) % hugePage) % hugePage
            if waste > 0 { munmap(whole, waste) }
            let start = whole + waste
            if hugePage - waste > 0 { munmap(start + size, hugePage - waste) }
            madvise(start, size, MADV_HUGEPAGE)
            return start
        }
        if bytes >= pageThreshold {
            // A table that is looked up all over would ask for each page, and for most of them twice: to read, then to write.
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | (isZeroed ? MAP_POPULATE : 0)
            let pages = mmap(nil, rounded(bytes), PROT_READ | PROT_WRITE, flags, -1, 0)
            guard let pages, pages != MAP_FAILED else { preconditionFailure("out of memory: \(bytes) bytes") }
            return pages
        }
        guard let memory = isZeroed ? calloc(max(bytes, 1), 1) : malloc(max(bytes, 1)) else {
            preconditionFailure("out of memory: \(bytes) bytes")
        }
        return memory
    }

    /// Gives memory back.
    package static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes >= pageThreshold { munmap(memory, rounded(bytes)) } else { Glibc.free(memory) }
    }

    /// Asks for huge pages in memory that others have allocated and that is about to be written throughout.
    package static func preferHugePages(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        guard bytes >= secondThreshold else { return }
        let waste = (hugePage - Int(bitPattern: memory) % hugePage) % hugePage
        madvise(memory + waste, (bytes - waste) / hugePage * hugePage, MADV_HUGEPAGE)
    }

    /// Copies `count` bytes of memory that is not needed any more, giving it back piece by piece as it is copied, so that
    /// no more than a piece of it is there twice. It still has to be freed.
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

    /// Gives the whole pages before `end` back to the system; what is read there afterwards is 0.
    package static func discard(_ memory: UnsafeMutableRawPointer, upTo end: Int, from start: Int = 0, of bytes: Int) {
        guard bytes >= pageThreshold else { return }
        let unit = bytes >= threshold ? hugePage : page
        let (first, last) = (start / unit * unit, end / unit * unit)
        if last > first { madvise(memory + first, last - first, MADV_DONTNEED) }
    }

    /// How much of so much memory is best given back at a time.
    package static func piece(ofBytes bytes: Int) -> Int { bytes >= threshold ? hugePage : 1 << 18 }

    private static func rounded(_ bytes: Int) -> Int {
        let unit = bytes >= threshold ? hugePage : page
        return (bytes + unit - 1) / unit * unit
    }
}
