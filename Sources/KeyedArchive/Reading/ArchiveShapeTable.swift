import Platform
import PropertyList

/// The shapes of an archive's dictionaries, each made once. Recent ones are found by the bytes of their key references.
///
/// The bytes are in the archive's storage, which the owner of the table retains.
struct ArchiveShapeTable {
    private struct Entry {
        var references: UnsafeRawBufferPointer
        var shape: ArchiveShape
    }

    private var entries: [Entry?] = Array(repeating: nil, count: 64)
    private var recentShapes: [ArchiveShape] = []
    private var nextRecent = 0
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
        // Some writers repeat the key strings for each instance.
        for shape in recentShapes where try Self.matches(container, shape, list) { return shape }
        var keys: [String] = []
        keys.reserveCapacity(container.count)
        for index in 0..<container.count {
            guard let key = try list.string(at: list.reference(index, in: container)) else {
                throw .corruptArchive("a key of an object is not a string")
            }
            keys.append(key)
        }
        let exact = keys.map { ExactText($0) }
        if let known = shapes[exact] {
            noteRecent(known)
            return known
        }
        let shape = ArchiveShape(storedKeys: keys)
        // Archives have few shapes; this bounds the memory for a hostile one.
        if shapes.count < 4096, keyCount + keys.count <= 1 << 17 {
            shapes[exact] = shape
            keyCount += keys.count
        }
        noteRecent(shape)
        return shape
    }

    private mutating func noteRecent(_ shape: ArchiveShape) {
        if recentShapes.count < 4 {
            recentShapes.append(shape)
        } else {
            recentShapes[nextRecent] = shape
            nextRecent = (nextRecent + 1) % 4
        }
    }

    /// Whether a container has a shape's keys, by content.
    private static func matches(
        _ container: BinaryPropertyListContainer, _ shape: ArchiveShape, _ list: BinaryPropertyListReader
    ) throws(PropertyListError) -> Bool {
        guard container.count == shape.storedKeys.count else { return false }
        for index in 0..<container.count {
            guard let bytes = try list.asciiString(at: list.reference(index, in: container)),
                shape.holds(bytes, at: index)
            else { return false }
        }
        return true
    }
}
