import Platform
import PropertyList

/// The keys of consecutive dictionaries; neighbours of one class nearly always share them.
struct ArchiveKeyRun: Sendable {
    /// A dictionary of the run; -1 for none.
    let number: Int
    private let references: [UInt8]

    init() {
        number = -1
        references = []
    }

    /// A run that begins with a dictionary.
    init(_ container: BinaryPropertyListContainer, at number: Int, in list: BinaryPropertyListReader) {
        self.number = number
        references = Array(list.keyReferences(of: container))
    }

    /// Whether a dictionary with these key references belongs to the run: it has the same keys in the same order.
    ///
    /// Unlike the lookup of a shape, it needs no reference counting, for which threads that read one archive would
    /// contend.
    @inline(__always)
    func contains(_ keys: UnsafeRawBufferPointer) -> Bool {
        references.withUnsafeBytes { known in
            guard known.count == keys.count, let start = known.baseAddress, let other = keys.baseAddress else {
                return known.count == keys.count
            }
            return memcmp(start, other, keys.count) == 0
        }
    }
}
