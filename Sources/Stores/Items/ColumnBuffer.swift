import Glibc

/// A column's memory, freed when neither the column nor a snapshot needs it.
final class ColumnBuffer: @unchecked Sendable {
    // Guard: a snapshot reads only what the column does not change while the two share the buffer; it is grown by its
    // one owner.
    private(set) var base: UnsafeMutableRawPointer

    init<Element>(_ memory: UnsafeMutablePointer<Element>) {
        base = UnsafeMutableRawPointer(memory)
    }

    /// Memory of zeros, which costs nothing until it is touched.
    init(zeros byteCount: Int) {
        guard let memory = calloc(max(byteCount, 1), 1) else { Self.outOfMemory(byteCount) }
        base = memory
    }

    deinit {
        free(base)
    }

    func grow<Element>(to count: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        let byteCount = count * MemoryLayout<Element>.stride
        guard let grown = realloc(base, byteCount) else { Self.outOfMemory(byteCount) }
        base = grown
        return grown.assumingMemoryBound(to: Element.self)
    }

    /// An allocator that cannot give memory leaves nothing that a store could do: stop with a clear message.
    private static func outOfMemory(_ byteCount: Int) -> Never {
        preconditionFailure("out of memory: a column of \(byteCount) bytes")
    }
}
