package import PropertyList

/// An instance of an archive, read in place: its class and, by key, its values.
///
/// A scalar may be inline or an object, and an absent key or nil gives nil. A value of another type is an error. The
/// calls with a slot of the record's shape avoid the lookup of the key.
package struct ArchiveRecord {
    /// The archive's reader.
    package let reader: KeyedArchiveReader
    /// The object's number in the archive.
    package let uid: UInt32
    let container: BinaryPropertyListContainer
    /// The record's own number in the property list.
    let number: Int
    /// The record's shape, shared by records with the same keys.
    package let shape: ArchiveShape

    /// The keys, in the archive's order.
    package var keys: [String] { shape.keys }

    /// The UID of the class description.
    func classUID() throws(ArchiveError) -> UInt32 {
        guard let slot = shape.classSlot, let uid = try reference(at: slot) else {
            throw .corrupt("object \(uid) has no class")
        }
        return uid
    }

    /// The record's class.
    package func archivedClass() throws(ArchiveError) -> ArchivedClass {
        try reader.archivedClass(at: try classUID())
    }

    /// The name of the class.
    package func className() throws(ArchiveError) -> String {
        try archivedClass().name
    }

    /// Whether the object has a value for a key.
    package func containsValue(forKey key: String) -> Bool { shape.slot(of: key) != nil }

    // MARK: - Slots

    @inline(__always)
    func number(at slot: Int) -> Int { reader.propertyList.valueReference(slot, in: container) }

    /// The UID in a slot, or nil for an inline scalar.
    @inline(__always)
    package func reference(at slot: Int) throws(ArchiveError) -> UInt32? {
        try reader.propertyList.uid(in: number(at: slot))
    }

    /// The UID of a key: 0 for nil; nil when the key is absent or has an inline scalar.
    package func reference(forKey key: String) throws(ArchiveError) -> UInt32? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try reference(at: slot)
    }

    /// The number of a slot's leaf, inline or behind a reference. Nil for nil.
    @inline(__always)
    func leaf(at slot: Int) throws(ArchiveError) -> Int? {
        let number = number(at: slot)
        guard let uid = try reader.propertyList.uid(in: number) else { return number }
        if uid == 0 { return nil }
        return try reader.number(of: uid)
    }

    // MARK: - Strings

    /// The text of a string.
    package func decodeString(forKey key: String) throws(ArchiveError) -> String? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try decodeString(at: slot)
    }

    /// Decodes the text of a slot; nil for a null reference.
    package func decodeString(at slot: Int) throws(ArchiveError) -> String? {
        if let text = reader.propertyList.plainString(at: slot, in: container, through: reader.objects) { return text }
        guard let number = try leaf(at: slot) else { return nil }
        if let text = try lifted({ () throws(PropertyListError) in try reader.table.string(at: number) }) {
            // An unfulfilled conditional reference; the user's text “$null” is stored in another form.
            guard text == "$null", let uid = try reference(at: slot) else { return text }
            return try reader.isNil(uid) ? nil : text
        }
        throw mismatch(slot, "a string")
    }

    // MARK: - Numbers

    /// A number, inline or as an object.
    private func decodeNumber(at slot: Int) throws(ArchiveError) -> BinaryPropertyListReader.Number? {
        guard let number = try leaf(at: slot) else { return nil }
        if let value = try lifted({ () throws(PropertyListError) in try reader.table.number(at: number) }) {
            return value
        }
        if let uid = try reference(at: slot), try reader.isNil(uid) { return nil }
        throw mismatch(slot, "a number")
    }

    /// An integer: an integer, a boolean as 0 or 1, or an integral real.
    package func decodeInteger(forKey key: String) throws(ArchiveError) -> Int64? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try decodeInteger(at: slot)
    }

    /// Decodes the whole number of a slot; nil for a null reference.
    package func decodeInteger(at slot: Int) throws(ArchiveError) -> Int64? {
        if let value = reader.propertyList.plainInteger(at: slot, in: container, through: reader.objects) {
            return value
        }
        guard let number = try decodeNumber(at: slot) else { return nil }
        guard let integer = number.exactInteger else { throw mismatch(slot, "an integer of 64 bits") }
        return integer
    }

    /// A number as a real.
    package func decodeDouble(forKey key: String) throws(ArchiveError) -> Double? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try decodeNumber(at: slot)?.asDouble
    }

    /// A boolean: a boolean, or a number that is not 0.
    package func decodeBool(forKey key: String) throws(ArchiveError) -> Bool? {
        try decodeDouble(forKey: key).map { $0 != 0 }
    }

    // MARK: - Dates and data

    /// A date: an NSDate, or a date leaf, as GNUstep writes it.
    package func decodeDate(forKey key: String) throws(ArchiveError) -> PropertyListDate? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try decodeDate(at: slot)
    }

    /// Decodes the date of a slot; nil for a null reference.
    package func decodeDate(at slot: Int) throws(ArchiveError) -> PropertyListDate? {
        if let date = try lifted({ () throws(PropertyListError) in try reader.objectReader.date(at: slot, in: container)
        }) {
            return date
        }
        if let uid = try reference(at: slot), try reader.isNil(uid) { return nil }
        throw mismatch(slot, "a date")
    }

    /// Bytes: inline data, an NSData or an NSMutableData.
    package func decodeData(forKey key: String) throws(ArchiveError) -> [UInt8]? {
        guard let slot = shape.slot(of: key), let number = try leaf(at: slot) else { return nil }
        if let bytes = try lifted({ () throws(PropertyListError) in try reader.table.data(at: number) }) {
            return Array(bytes)
        }
        if let uid = try reference(at: slot), try reader.isNil(uid) { return nil }
        throw mismatch(slot, "data")
    }

    // MARK: - Collections

    /// The UIDs of an array's or set's elements, or nil for another record.
    package func elements() throws(ArchiveError) -> ArchiveReferences? {
        guard let slot = shape.slot(of: "NS.objects") else { return nil }
        return try references(at: slot)
    }

    /// An inline list of references, or nil when the slot has another value.
    func references(at slot: Int) throws(ArchiveError) -> ArchiveReferences? {
        let number = number(at: slot)
        guard let list = try reader.propertyList.container(in: number), list.kind == .array else { return nil }
        return ArchiveReferences(reader: reader, list: list, number: number)
    }

    /// The object of a key as a property-list value: NSArray, NSDictionary, NSDate, NSData, strings,
    /// numbers, NSNull.
    ///
    /// - Throws: `readCorrupt` for other classes, for cycles and for values beyond a limit.
    package func decodePropertyList(forKey key: String) throws(ArchiveError) -> PropertyListValue? {
        guard let slot = shape.slot(of: key) else { return nil }
        return try decodePropertyList(at: slot)
    }

    /// Decodes the property list of a slot; nil for a null reference.
    package func decodePropertyList(at slot: Int) throws(ArchiveError) -> PropertyListValue? {
        do {
            return try reader.propertyListValue(in: number(at: slot))
        } catch {
            throw error.below(shape.storedKeys[slot])
        }
    }

    private func mismatch(_ slot: Int, _ wanted: String) -> ArchiveError {
        .corrupt("the value of “\(ArchiveKey.given(shape.storedKeys[slot]))” in object \(uid) is not \(wanted)")
    }
}

/// A list of references to objects, read in place.
package struct ArchiveReferences {
    let reader: KeyedArchiveReader
    let list: BinaryPropertyListContainer
    /// The list's own number in the property list.
    let number: Int

    /// The number of references.
    package var count: Int { list.count }

    /// The number of the reference at an index in the property list.
    func number(at index: Int) -> Int { reader.propertyList.reference(index, in: list) }

    /// The UID at an index; 0 for nil.
    ///
    /// - Throws: `readCorrupt` when the element is not a reference.
    package func uid(at index: Int) throws(ArchiveError) -> UInt32 {
        let number = reader.propertyList.reference(index, in: list)
        guard let uid = try reader.propertyList.uid(in: number) else {
            throw .corrupt("an element of a collection is not a reference to an object")
        }
        return uid
    }
}
