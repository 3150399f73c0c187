import Platform
import PropertyList

/// The keys of an instance, in order. Instances with the same keys share one shape, so that slots found for one are
/// valid for all.
package final class ArchiveShape: Sendable {
    /// The keys without the escape for `$`; `$0`, `$1` and so on belong to unkeyed values.
    package let keys: [String]
    /// The keys as they are stored, `$class` included.
    package let storedKeys: [String]
    private let storedSlots: [ExactText: Int]
    let classSlot: Int?

    init(storedKeys: [String]) {
        self.storedKeys = storedKeys
        classSlot = storedKeys.firstIndex(of: "$class")
        var keys: [String] = []
        var storedSlots: [ExactText: Int] = [:]
        for (slot, stored) in storedKeys.enumerated() {
            if storedSlots[ExactText(stored)] == nil { storedSlots[ExactText(stored)] = slot }
            if slot != classSlot { keys.append(ArchiveKey.given(stored)) }
        }
        self.keys = keys
        self.storedSlots = storedSlots
    }

    /// The slot of a key, or nil when the instances have no such key.
    package func slot(of key: String) -> Int? { storedSlots[ExactText(ArchiveKey.escaped(key))] }

    /// The slot of a stored key.
    package func slot(ofStored key: String) -> Int? { storedSlots[ExactText(key)] }
}

/// The shapes of an archive's dictionaries, each made once. Recent ones are found by the bytes of their key references.
///
/// The bytes are in the archive's storage, which the owner of the table retains.
struct ArchiveShapeTable {
    private struct Entry {
        var references: UnsafeRawBufferPointer
        var shape: ArchiveShape
    }

    private var entries: [Entry?] = Array(repeating: nil, count: 64)
    private var shapes: [[ExactText]: ArchiveShape] = [:]
    /// The total number of keys of the known shapes.
    private var keyCount = 0

    /// The shape of a dictionary.
    ///
    /// - Throws: `readCorrupt` when a key is not a string.
    @inline(__always)
    mutating func shape(
        of container: BinaryPropertyListContainer, in list: BinaryPropertyListReader
    ) throws(PropertyListError) -> ArchiveShape {
        let references = list.keyReferences(of: container)
        let place = Self.place(of: references)
        if let entry = entries[place], entry.references.count == references.count,
            let known = entry.references.baseAddress, let asked = references.baseAddress,
            memcmp(known, asked, references.count) == 0
        {
            return entry.shape
        }
        let shape = try findShape(of: container, in: list)
        entries[place] = Entry(references: references, shape: shape)
        return shape
    }

    /// The last bytes of the first and of the last reference differ between key lists.
    @inline(__always)
    private static func place(of references: UnsafeRawBufferPointer) -> Int {
        guard references.count >= 4 else { return references.count }
        let first = Int(references[3]) &+ Int(references[0])
        let last = Int(references[references.count - 1])
        return (first &+ last &* 7 &+ references.count &* 5) & 63
    }

    @inline(never)
    private mutating func findShape(
        of container: BinaryPropertyListContainer, in list: BinaryPropertyListReader
    ) throws(PropertyListError) -> ArchiveShape {
        var keys: [String] = []
        for index in 0..<container.count {
            guard let key = try list.string(at: list.reference(index, in: container)) else {
                throw .corruptArchive("a key of an object is not a string")
            }
            keys.append(key)
        }
        let exact = keys.map { ExactText($0) }
        if let known = shapes[exact] { return known }
        let shape = ArchiveShape(storedKeys: keys)
        // Archives have few shapes; this bounds the memory for a hostile one.
        if shapes.count < 4096, keyCount + keys.count <= 1 << 17 {
            shapes[exact] = shape
            keyCount += keys.count
        }
        return shape
    }
}

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
