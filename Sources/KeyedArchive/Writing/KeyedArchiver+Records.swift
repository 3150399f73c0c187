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
    /// - Throws: what `encode` throws; the archive cannot be finished then.
    @inlinable
    public func encodeRecords<Items: Collection>(
        _ items: Items, of archivedClass: ArchivedClass, forKey key: String = KeyedArchiver.rootKey,
        isMutable: Bool = false, encode: (Items.Element, KeyedArchiver) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let records = try beginRecords(of: archivedClass, count: items.count, forKey: key)
        do {
            for item in items {
                beginElement()
                try encode(item, self)
                endElement(of: records)
            }
        } catch {
            abandon(error)
            throw error
        }
        try endRecords(records, isMutable: isMutable)
    }

    /// What `encodeRecords` keeps while it runs.
    @usableFromInline
    package struct Records {
        let array: UInt32
        let classNumber: Int
    }

    /// Begins an array of records, for callers that cannot use `encodeRecords`: then for each element `beginElement`,
    /// the calls that encode its fields, `endElement`, and at last `endRecords`. No object may be open.
    @usableFromInline
    package func beginRecords(
        of archivedClass: ArchivedClass, count: Int, forKey key: String
    ) throws(ArchiveError) -> Records {
        if let failure { throw failure }
        guard !isInRecord, !hasRecordsOpen else {
            throw .invalid("an array of records cannot begin inside an object that is being encoded")
        }
        let array = newUID(Self.awaited)
        try append(self.key(key).number, .uid, UInt64(array))
        hasRecordsOpen = true
        return Records(array: array, classNumber: classNumber(archivedClass))
    }

    /// Begins the next element of an array of records: the calls that follow encode its fields.
    @usableFromInline
    package func beginElement() {
        elementUID = newUID(Self.awaited)
        beginRecord()
    }

    /// Ends an element.
    @usableFromInline
    package func endElement(of records: Records) {
        endRecord(uid: elementUID, class: records.classNumber)
        elements.append(table.uid(elementUID))
    }

    /// Ends the array, and writes what its records refer to.
    @usableFromInline
    package func endRecords(_ records: Records, isMutable: Bool = false) throws(ArchiveError) {
        hasRecordsOpen = false
        let list = try lifted { () throws(PropertyListError) in try table.array(of: elements) }
        beginRecord()
        try append(objectsKey, .object, UInt64(list))
        endRecord(uid: records.array, class: classNumber(isMutable ? .mutableArray : .array))
        try drainOutside()
    }

    /// Gives up: what was begun cannot be finished.
    @usableFromInline
    package func abandon(_ error: ArchiveError) {
        isInRecord = false
        hasRecordsOpen = false
        if failure == nil { failure = error }
    }
}
