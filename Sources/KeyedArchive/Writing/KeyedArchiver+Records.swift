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

extension KeyedArchiver {
    /// The UID of any object of an archive; containers are queued.
    func uid(of value: ArchiveValue?) throws(ArchiveError) -> UInt32 {
        guard let value else { return 0 }
        switch value {
        case .string(let text): return uid(ofString: text)
        case .utf16(let units): return uid(ofLeaf: table.string(units: units))
        case .boolean(let value): return uid(ofLeaf: table.boolean(value))
        case .integer(let value): return uid(ofLeaf: table.integer(value))
        case .wideInteger(let value): return uid(ofLeaf: table.integer(value))
        case .real(let value): return uid(ofLeaf: table.real(value))
        case .single(let value): return uid(ofLeaf: table.real(value))
        case .data(let bytes): return uid(ofLeaf: bytes.withUnsafeBytes { table.data($0) })
        case .date(let date): return try uid(ofDate: date)
        case .null: return uidOfNull()
        case .value(let shared): return uid(ofShared: shared, queued: value)
        case .mutableString(let object): return uid(ofIdentity: object) { .value(value, uid: $0) }
        case .mutableData(let object): return uid(ofIdentity: object) { .value(value, uid: $0) }
        case .collection(let object): return uid(ofIdentity: object) { .value(value, uid: $0) }
        case .dictionary(let object): return uid(ofIdentity: object) { .value(value, uid: $0) }
        case .unknown(let object): return uid(ofIdentity: object) { .value(value, uid: $0) }
        case .object(let object): return uid(ofObject: object)
        }
    }

    /// The UID of a property list value as an object; containers are queued.
    func uid(ofPropertyList value: PropertyListValue?) throws(ArchiveError) -> UInt32 {
        guard let value else { return 0 }
        switch value {
        case .null: return uidOfNull()
        case .uid: throw .invalid("a UID has no meaning outside its own archive")
        case .array, .set, .dictionary:
            let uid = newUID(Self.awaited)
            queue.append(.propertyList(value, uid: uid))
            return uid
        case .string(let text): return uid(ofString: text)
        case .utf16(let units): return uid(ofLeaf: table.string(units: units))
        case .integer(let value): return uid(ofLeaf: table.integer(value))
        case .boolean(let value): return uid(ofLeaf: table.boolean(value))
        case .real(let value): return uid(ofLeaf: table.real(value))
        case .single(let value): return uid(ofLeaf: table.real(value))
        case .wideInteger(let value): return uid(ofLeaf: table.integer(value))
        case .data(let bytes): return uid(ofLeaf: bytes.withUnsafeBytes { table.data($0) })
        case .date(let date): return try uid(ofDate: date)
        }
    }

    private func uidOfNull() -> UInt32 {
        if nullUID == 0 {
            nullUID = newUID(Self.awaited)
            queue.append(.value(.null, uid: nullUID))
        }
        return nullUID
    }

    private func uid(ofShared shared: FoundationValue, queued value: ArchiveValue) -> UInt32 {
        if let known = valueUIDs[shared] { return known }
        let uid = newUID(Self.awaited)
        valueUIDs[shared] = uid
        queue.append(.value(value, uid: uid))
        return uid
    }

    // MARK: - The queue

    /// Writes the queued objects unless an object is being encoded.
    @inline(__always)
    func drainOutside() throws(ArchiveError) {
        if !isInRecord, !isDraining, !queue.isEmpty { try drain() }
    }

    private func drain() throws(ArchiveError) {
        if let failure { throw failure }
        isDraining = true
        defer { isDraining = false }
        var next = 0
        var pace = InterruptionPace()
        do throws(ArchiveError) {
            while next < queue.count {
                if pace.isDue() { throw ArchiveError.invalid(Interruption.message) }
                let object = queue[next]
                next += 1
                try write(object)
                // Bounds the memory of the queue of a large graph.
                if next == 4096 {
                    queue.removeFirst(next)
                    next = 0
                }
            }
        } catch {
            isInRecord = false
            failure = error
            throw error
        }
        queue.removeAll(keepingCapacity: true)
    }

    private func write(_ queued: QueuedObject) throws(ArchiveError) {
        switch queued {
        case .object(let object, let uid): try write(object, uid: uid)
        case .value(let value, let uid): try write(value, uid: uid)
        case .propertyList(let value, let uid): try write(value, uid: uid)
        }
    }

    private func write(_ object: any KeyedEncodable, uid: UInt32) throws(ArchiveError) {
        let archivedClass = object.classForKeyedArchiver
        guard !requiresSecureCoding || object.allowsSecureCoding else {
            throw .invalid(
                "secure coding is required, and \(archivedClass.name) does not support it; "
                    + "archive without it, or declare that the class checks what it decodes")
        }
        beginRecord()
        do {
            try object.encode(with: self)
        } catch {
            throw error.below(archivedClass.name)
        }
        endRecord(uid: uid, class: classNumber(archivedClass))
    }

    private func write(_ value: PropertyListValue, uid: UInt32) throws(ArchiveError) {
        switch value {
        case .array(let elements): try write(elements, as: .array, uid: uid)
        case .set(let elements): try write(elements, as: .set, uid: uid)
        case .dictionary(let entries):
            let sorted = entries.sortedEntries
            var keys: [UInt32] = []
            keys.reserveCapacity(sorted.count)
            for entry in sorted { keys.append(try self.uid(ofPropertyList: entry.key)) }
            var values: [UInt32] = []
            values.reserveCapacity(sorted.count)
            for entry in sorted { values.append(try self.uid(ofPropertyList: entry.value)) }
            try write(.dictionary, keys: keys, objects: values, uid: uid)
        default: break
        }
    }

    private func write(
        _ elements: [PropertyListValue], as archivedClass: ArchivedClass, uid: UInt32
    ) throws(ArchiveError) {
        var uids: [UInt32] = []
        uids.reserveCapacity(elements.count)
        for element in elements { uids.append(try self.uid(ofPropertyList: element)) }
        try write(archivedClass, keys: nil, objects: uids, uid: uid)
    }

    /// Writes a collection's dictionary: its keys, if it has them, and its objects, as lists of UIDs.
    func write(
        _ archivedClass: ArchivedClass, keys: [UInt32]?, objects: [UInt32], uid: UInt32
    ) throws(ArchiveError) {
        beginRecord()
        if let keys {
            try append(keysKey, .object, UInt64(keys.withUnsafeBufferPointer { table.array(ofUIDs: $0) }))
        }
        try append(objectsKey, .object, UInt64(objects.withUnsafeBufferPointer { table.array(ofUIDs: $0) }))
        endRecord(uid: uid, class: classNumber(archivedClass))
    }

    private func uids(of values: [ArchiveValue?]) throws(ArchiveError) -> [UInt32] {
        var uids: [UInt32] = []
        uids.reserveCapacity(values.count)
        for value in values { uids.append(try uid(of: value)) }
        return uids
    }

    private func write(_ value: ArchiveValue, uid: UInt32) throws(ArchiveError) {
        switch value {
        case .collection(let collection):
            switch collection.kind {
            case .array, .set:
                let objects = try uids(of: collection.elements)
                try write(collection.archivedClass, keys: nil, objects: objects, uid: uid)
            case .orderedSet, .countedSet: try writeNumbered(collection, uid: uid)
            }
        case .dictionary(let dictionary):
            let keys = try uids(of: dictionary.entries.map(\.key))
            let objects = try uids(of: dictionary.entries.map(\.value))
            try write(dictionary.archivedClass, keys: keys, objects: objects, uid: uid)
        case .unknown(let object): try write(object, uid: uid)
        case .null:
            beginRecord()
            endRecord(uid: uid, class: classNumber(.null))
        case .mutableString(let object):
            beginRecord()
            try append(table.key("NS.string"), .object, UInt64(table.string(object.text)))
            endRecord(uid: uid, class: classNumber(.mutableString))
        case .mutableData(let object):
            beginRecord()
            let data = object.bytes.withUnsafeBytes { table.data($0) }
            try append(table.key("NS.data"), .object, UInt64(data))
            endRecord(uid: uid, class: classNumber(.mutableData))
        case .value(let value):
            beginRecord()
            try encodeFields(of: value)
            endRecord(uid: uid, class: classNumber(value.archivedClass))
        default: break
        }
    }

    /// Writes a collection with numbered elements: `NS.object.0` in ordered sets; counted sets have counts too, and no
    /// point.
    private func writeNumbered(_ collection: ArchivedCollection, uid: UInt32) throws(ArchiveError) {
        let elements = try uids(of: collection.elements)
        let isCounted = collection.kind == .countedSet
        beginRecord()
        if isCounted { try append(table.key("NS.count"), .integer, UInt64(elements.count)) }
        for (index, element) in elements.enumerated() {
            try append(table.key(isCounted ? "NS.object\(index)" : "NS.object.\(index)"), .uid, UInt64(element))
            guard isCounted else { continue }
            let count = collection.counts.indices.contains(index) ? collection.counts[index] : 1
            try append(table.key("NS.count\(index)"), .integer, UInt64(bitPattern: Int64(count)))
        }
        endRecord(uid: uid, class: classNumber(collection.archivedClass))
    }

    private func write(_ object: ArchivedObject, uid: UInt32) throws(ArchiveError) {
        // The references come first, since they may use the record's buffer.
        var prepared: [(key: String, kind: BinaryPropertyListField.Kind, payload: UInt64)] = []
        var inlines: [(index: Int, value: PropertyListValue)] = []
        for field in object.fields {
            switch field.value {
            case .object(let value): prepared.append((field.key, .uid, UInt64(try self.uid(of: value))))
            case .objects(let elements):
                let list = try uids(of: elements).withUnsafeBufferPointer { table.array(ofUIDs: $0) }
                prepared.append((field.key, .object, UInt64(list)))
            case .inline(let value):
                inlines.append((prepared.count, value))
                prepared.append((field.key, .integer, 0))
            }
        }
        beginRecord()
        var nextInline = inlines.startIndex
        for (index, field) in prepared.enumerated() {
            let number = table.key(ArchiveKey.stored(field.key))
            if nextInline < inlines.endIndex, inlines[nextInline].index == index {
                try encodeInline(inlines[nextInline].value, rawKey: number)
                nextInline += 1
            } else {
                try append(number, field.kind, field.payload)
            }
        }
        endRecord(uid: uid, class: classNumber(object.archivedClass))
    }
}
