/// A view of the references of an array, set or dictionary of a binary property list. Its bounds are checked.
package struct BinaryPropertyListContainer: Sendable {
    package let kind: BinaryPropertyListReader.Kind
    /// The number of elements, or of entries of a dictionary.
    package let count: Int
    let references: Int
}

extension BinaryPropertyListReader {
    /// The container with a number, or nil for another object. O(1).
    package func container(at number: Int) throws(PropertyListError) -> BinaryPropertyListContainer? {
        let offset = try offset(of: number)
        switch marker(at: offset) & 0xF0 {
        case 0xA0: return try container(.array, at: offset, unit: referenceSize)
        case 0xC0: return try container(.set, at: offset, unit: referenceSize)
        case 0xD0: return try container(.dictionary, at: offset, unit: referenceSize * 2)
        default: return nil
        }
    }

    @inline(__always)
    private func container(
        _ kind: Kind, at offset: Int, unit: Int
    ) throws(PropertyListError) -> BinaryPropertyListContainer {
        let (count, start) = try payload(at: offset, unit: unit)
        return BinaryPropertyListContainer(kind: kind, count: count, references: start)
    }

    /// The number of the element at `index` of an array or set, or of the key at `index` of a dictionary.
    ///
    /// - Precondition: `index` is below the container's count.
    @inline(__always)
    package func reference(_ index: Int, in container: BinaryPropertyListContainer) -> Int {
        precondition(index >= 0 && index < container.count, "an index outside its container")
        return Int(truncatingIfNeeded: bigEndian(at: container.references + index * referenceSize, size: referenceSize))
    }

    /// The number of the value at `index` of a dictionary.
    ///
    /// - Precondition: the container is a dictionary and `index` is below its count.
    @inline(__always)
    package func valueReference(_ index: Int, in container: BinaryPropertyListContainer) -> Int {
        precondition(index >= 0 && index < container.count && container.kind == .dictionary, "no such entry")
        let place = container.references + (container.count + index) * referenceSize
        return Int(truncatingIfNeeded: bigEndian(at: place, size: referenceSize))
    }

    /// The bytes of a dictionary's key references. Equal bytes imply equal keys in the same order.
    package func keyReferences(of container: BinaryPropertyListContainer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + container.references, count: container.count * referenceSize)
    }
}
