import PropertyList

extension KeyedArchiver {
    /// The UID of any object of an archive; containers are queued.
    func uid(of value: ArchiveValue?) throws(ArchiveError) -> UInt32 {
        guard let value else { return 0 }
        switch value {
        case .string(let text): return uid(ofString: text)
        case .utf16(let units): return record.uid(ofLeaf: table.string(units: units))
        case .boolean(let value): return record.uid(ofLeaf: table.boolean(value))
        case .integer(let value): return record.uid(ofLeaf: table.integer(value))
        case .wideInteger(let value): return record.uid(ofLeaf: table.integer(value))
        case .real(let value): return record.uid(ofLeaf: table.real(value))
        case .single(let value): return record.uid(ofLeaf: table.real(value))
        case .data(let bytes): return record.uid(ofLeaf: table.data(bytes))
        case .date(let date): return try uid(ofDate: date)
        case .null: return uniquing.uidOfNull()
        case .value(let shared): return uniquing.uid(of: shared, queued: value)
        case .mutableString(let object): return uniquing.uid(of: object) { .value(value, uid: $0) }
        case .mutableData(let object): return uniquing.uid(of: object) { .value(value, uid: $0) }
        case .collection(let object): return uniquing.uid(of: object) { .value(value, uid: $0) }
        case .dictionary(let object): return uniquing.uid(of: object) { .value(value, uid: $0) }
        case .unknown(let object): return uniquing.uid(of: object) { .value(value, uid: $0) }
        case .object(let object): return uid(ofObject: object)
        }
    }

    /// The UID of a property list value as an object; containers are queued.
    func uid(ofPropertyList value: PropertyListValue?) throws(ArchiveError) -> UInt32 {
        guard let value else { return 0 }
        switch value {
        case .null: return uniquing.uidOfNull()
        case .uid: throw .invalid("a UID has no meaning outside its own archive")
        case .array, .set, .dictionary: return uniquing.newUID { .propertyList(value, uid: $0) }
        default: return try uid(of: ArchiveValue(leaf: value))
        }
    }

    // MARK: - The queue

    /// Writes the queued objects unless an object is being encoded.
    @inline(__always)
    func drainOutside() throws(ArchiveError) {
        if !record.isOpen, uniquing.needsDraining { try drain() }
    }

    private func drain() throws(ArchiveError) {
        if let failure { throw failure }
        uniquing.beginDraining()
        defer { uniquing.endDraining() }
        var pace = InterruptionPace()
        do throws(ArchiveError) {
            while let object = uniquing.dequeue() {
                if pace.isDue() { throw ArchiveError.invalid(Interruption.message) }
                try write(object)
            }
        } catch {
            record.abandon()
            failure = error
            throw error
        }
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
        record.begin()
        do {
            try object.encode(with: self)
        } catch {
            throw error.below(archivedClass.name)
        }
        endRecord(uid: uid, class: classes.number(of: archivedClass))
    }

    private func write(_ value: PropertyListValue, uid: UInt32) throws(ArchiveError) {
        switch value {
        case .array(let elements), .set(let elements):
            let objects = try elements.map(self.uid(ofPropertyList:))
            let isSet = if case .set = value { true } else { false }
            try write(isSet ? .set : .array, keys: nil, objects: objects, uid: uid)
        case .dictionary(let entries):
            let sorted = entries.sortedEntries
            let keys = try sorted.map(\.key).map(self.uid(ofPropertyList:))
            let objects = try sorted.map(\.value).map(self.uid(ofPropertyList:))
            try write(.dictionary, keys: keys, objects: objects, uid: uid)
        default: break
        }
    }

    /// Writes a collection's dictionary: its keys, if it has them, and its objects, as lists of UIDs.
    func write(
        _ archivedClass: ArchivedClass, keys: [UInt32]?, objects: [UInt32], uid: UInt32
    ) throws(ArchiveError) {
        record.begin()
        record.append(keys: keys, objects: objects)
        endRecord(uid: uid, class: classes.number(of: archivedClass))
    }

    private func uids(of values: [ArchiveValue?]) throws(ArchiveError) -> [UInt32] { try values.map(uid(of:)) }

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
            record.begin()
            endRecord(uid: uid, class: classes.number(of: .null))
        case .mutableString(let object):
            record.begin()
            try append(table.key("NS.string"), .object, UInt64(table.string(object.text)))
            endRecord(uid: uid, class: classes.number(of: .mutableString))
        case .mutableData(let object):
            record.begin()
            try append(table.key("NS.data"), .object, UInt64(table.data(object.bytes)))
            endRecord(uid: uid, class: classes.number(of: .mutableData))
        case .value(let value):
            record.begin()
            try encodeFields(of: value)
            endRecord(uid: uid, class: classes.number(of: value.archivedClass))
        default: break
        }
    }

    /// Writes a collection with numbered elements: `NS.object.0` in ordered sets; counted sets have counts too, and no
    /// point.
    private func writeNumbered(_ collection: ArchivedCollection, uid: UInt32) throws(ArchiveError) {
        let elements = try uids(of: collection.elements)
        let isCounted = collection.kind == .countedSet
        record.begin()
        if isCounted { try append(table.key("NS.count"), .integer, UInt64(elements.count)) }
        for (index, element) in elements.enumerated() {
            try append(table.key(isCounted ? "NS.object\(index)" : "NS.object.\(index)"), .uid, UInt64(element))
            guard isCounted else { continue }
            let count = collection.counts.indices.contains(index) ? collection.counts[index] : 1
            try append(table.key("NS.count\(index)"), .integer, UInt64(bitPattern: Int64(count)))
        }
        endRecord(uid: uid, class: classes.number(of: collection.archivedClass))
    }

    private func write(_ object: ArchivedObject, uid: UInt32) throws(ArchiveError) {
        // The references come first, since they may use the record's buffer.
        let values = try object.fields.map { (field) throws(ArchiveError) in try written(field.value) }
        record.begin()
        for (field, value) in zip(object.fields, values) {
            try append(table.key(ArchiveKey.stored(field.key)), value.kind, value.payload)
        }
        endRecord(uid: uid, class: classes.number(of: object.archivedClass))
    }
}
