import Glibc

/// Memory for tables that grow large: in huge pages where the system has them, because tables of hashes and of offsets
/// are read in no order.
package enum PageMemory {
    private static let hugePage = 2 << 20

    /// Memory of `bytes` bytes, all 0, to be given back to `free` with the same size.
    ///
    /// Running out of memory ends the process, as everywhere in Swift.
    package static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        if bytes >= 2 * hugePage {
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
        guard let memory = calloc(max(bytes, 1), 1) else { preconditionFailure("out of memory: \(bytes) bytes") }
        return memory
    }

    /// Gives memory back.
    package static func free(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes >= 2 * hugePage { munmap(memory, rounded(bytes)) } else { Glibc.free(memory) }
    }

    private static func rounded(_ bytes: Int) -> Int { (bytes + hugePage - 1) / hugePage * hugePage }
}
