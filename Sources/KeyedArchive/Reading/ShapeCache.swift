import Glibc

/// Remembers the shapes of the key lists met lately, by the bytes of their references.
///
/// The bytes lie in the archive's storage, which the reader that owns the cache holds. No access to a property overlaps
/// another, so the run-time check for that is left out.
final class ShapeCache {
    private struct Entry {
        var references: UnsafeRawBufferPointer
        var shape: ArchiveShape
    }

    @exclusivity(unchecked) private var entries: [Entry?] = Array(repeating: nil, count: 64)

    @inline(__always)
    func find(_ references: UnsafeRawBufferPointer) -> ArchiveShape? {
        guard let entry = entries[place(of: references)], entry.references.count == references.count else { return nil }
        guard let known = entry.references.baseAddress, let asked = references.baseAddress,
            memcmp(known, asked, references.count) == 0
        else { return nil }
        return entry.shape
    }

    func note(_ references: UnsafeRawBufferPointer, _ shape: ArchiveShape) {
        entries[place(of: references)] = Entry(references: references, shape: shape)
    }

    /// The last bytes of the first and of the last reference differ between key lists.
    @inline(__always)
    private func place(of references: UnsafeRawBufferPointer) -> Int {
        guard references.count >= 4 else { return references.count }
        let first = Int(references[3]) &+ Int(references[0])
        let last = Int(references[references.count - 1])
        return (first &+ last &* 7 &+ references.count &* 5) & 63
    }
}
