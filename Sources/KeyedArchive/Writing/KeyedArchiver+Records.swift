import PropertyList

extension KeyedArchiver {
    /// Encodes an NSArray of instances of one class: the fast way to write a store's records.
    ///
    /// Each element gets an object of its own; none is looked up by identity, so nothing else in the archive can refer
    /// to it. Fields are encoded with the ordinary calls; keys that were registered before cost no lookup. O(1) an
    /// item, amortised, no allocation for a field.
    ///
    /// - Parameters:
    ///   - items: what to write.
    ///   - archivedClass: the class of every element.
    ///   - key: where the array goes; `root` for a one-object archive.
    ///   - isMutable: whether the array is an NSMutableArray.
    ///   - encode: encodes one item's fields.
    @inlinable
    public func encodeRecords<Items: Collection>(
        _ items: Items, of archivedClass: ArchivedClass, forKey key: String = KeyedArchiver.rootKey,
        isMutable: Bool = false, encode: (Items.Element, KeyedArchiver) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let records = try beginRecords(of: archivedClass, count: items.count, forKey: key)
        for item in items {
            beginElement()
            try encode(item, self)
            endElement(of: records)
        }
        try endRecords(records, isMutable: isMutable)
    }

    /// What `encodeRecords` keeps while it runs.
    public struct Records {
        let array: UInt32
        let classNumber: Int
        let firstElement: Int
    }

    /// Begins an array of records, for callers that cannot use `encodeRecords`. No record may be open.
    public func beginRecords(
        of archivedClass: ArchivedClass, count: Int, forKey key: String
    ) throws(ArchiveError) -> Records {
        guard !isInRecord else {
            throw .invalid("an array of records cannot begin inside an object that is being encoded")
        }
        let array = newUID(Self.awaited)
        try append(self.key(key).number, .uid, UInt64(array))
        elementUIDs.reserveCapacity(elementUIDs.count + count)
        return Records(array: array, classNumber: classNumber(archivedClass), firstElement: elementUIDs.count)
    }

    /// Begins the next element of an array of records: the calls that follow encode its fields.
    public func beginElement() {
        elementUIDs.append(newUID(Self.awaited))
        beginRecord()
    }

    /// Ends an element.
    public func endElement(of records: Records) {
        if let uid = elementUIDs.last { endRecord(uid: uid, class: records.classNumber) }
    }

    /// Ends the array, and writes what its records refer to.
    public func endRecords(_ records: Records, isMutable: Bool = false) throws(ArchiveError) {
        let uids = Array(elementUIDs[records.firstElement...])
        elementUIDs.removeSubrange(records.firstElement...)
        try write(isMutable ? .mutableArray : .array, keys: nil, objects: uids, uid: records.array)
        try drainOutside()
    }
}
