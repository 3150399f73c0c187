import PropertyList

extension KeyedArchiver {
    /// Encodes an NSArray of instances of one class, the fast path for many records.
    ///
    /// Each element is a new object without an identity lookup, so nothing else in the archive can refer to it. The
    /// closure encodes fields with the ordinary calls; registered keys need no lookup. Amortised O(1) per item, without
    /// an allocation for a field.
    ///
    /// - Parameters:
    ///   - items: the items.
    ///   - archivedClass: the class of every element.
    ///   - key: the key of the array; `root` for a one-object archive.
    ///   - isMutable: whether the array is an NSMutableArray.
    ///   - encode: encodes one item's fields.
    /// - Throws: the error of `encode`; then the archive cannot be finished.
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

    /// The state of `encodeRecords`.
    @usableFromInline
    struct Records {
        let array: UInt32
        let classNumber: Int
    }

    /// Begins an array of records: for each element follow `beginElement`, the calls that encode its fields, and
    /// `endElement`; at last `endRecords`. No object may be open.
    @usableFromInline
    func beginRecords(
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

    /// Begins the next element; the following calls encode its fields.
    @usableFromInline
    func beginElement() {
        elementUID = newUID(Self.awaited)
        beginRecord()
    }

    /// Ends an element.
    @usableFromInline
    func endElement(of records: Records) {
        endRecord(uid: elementUID, class: records.classNumber)
        elements.append(table.uid(elementUID))
    }

    /// Ends the array and writes the objects that its records refer to.
    @usableFromInline
    func endRecords(_ records: Records, isMutable: Bool = false) throws(ArchiveError) {
        hasRecordsOpen = false
        let list = try lifted { () throws(PropertyListError) in try table.array(of: elements) }
        beginRecord()
        try append(objectsKey, .object, UInt64(list))
        endRecord(uid: records.array, class: classNumber(isMutable ? .mutableArray : .array))
        try drainOutside()
    }

    /// Abandons the archive after an error.
    @usableFromInline
    package func abandon(_ error: ArchiveError) {
        isInRecord = false
        hasRecordsOpen = false
        if failure == nil { failure = error }
    }
}
