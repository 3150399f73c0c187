import PropertyList

/// A list of references to objects, read in place.
public struct ArchiveReferences {
    let reader: KeyedArchiveReader
    let list: BinaryPropertyListContainer
    /// The list's own number in the property list.
    let number: Int

    /// The number of references.
    public var count: Int { list.count }

    /// The number of the reference at an index in the property list.
    func number(at index: Int) -> Int { reader.propertyList.reference(index, in: list) }

    /// The UID at an index; 0 for nil.
    ///
    /// - Throws: `readCorrupt` when the element is not a reference.
    public func uid(at index: Int) throws(ArchiveError) -> UInt32 {
        let number = reader.propertyList.reference(index, in: list)
        guard let uid = try lifted({ () throws(PropertyListError) in try reader.propertyList.uid(at: number) }) else {
            throw .corrupt("an element of a collection is not a reference to an object")
        }
        return uid
    }
}
