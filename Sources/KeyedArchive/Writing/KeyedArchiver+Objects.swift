public import PropertyList

extension KeyedArchiver {
    // MARK: - Leaves

    /// Prefetches the hash slot of a text that will be encoded soon.
    package func expect(_ text: UnsafeBufferPointer<UInt8>) { table.expect(text) }

    /// Prefetches the hash slot of a date that will be encoded soon.
    package func expect(_ date: PropertyListDate) { dateUIDs.prefetch(date.secondsSinceReferenceDate.bitPattern) }

    /// Encodes a string as an object; nil as nil.
    public func encode(_ value: String?, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let value else { return try append(key.number, .uid, 0) }
        try append(key.number, .uid, UInt64(uid(ofString: value)))
    }

    /// Encodes a text; nil is a null reference.
    public func encode(_ value: String?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes UTF-8 text as a string object.
    ///
    /// - Throws: `invalidValue` when it is not valid UTF-8.
    public func encode(utf8 text: UnsafeBufferPointer<UInt8>, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let object = table.string(validatingUTF8: text) else {
            throw .invalid("a string is not valid UTF-8; encode it as data")
        }
        try append(key.number, .uid, UInt64(uid(ofStringObject: object)))
    }

    /// Encodes ASCII text that occurs only once in the archive, such as the key of a record, without a lookup. `write`
    /// writes its `count` characters.
    package func encode(
        uniqueASCII count: Int, forKey key: ArchiveKey, write: (UnsafeMutablePointer<UInt8>) -> Void
    ) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(newUID(table.unsharedString(asciiCount: count, write))))
    }

    /// Encodes a date as an NSDate; nil as nil.
    public func encode(_ value: PropertyListDate?, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let value else { return try append(key.number, .uid, 0) }
        try append(key.number, .uid, UInt64(try uid(ofDate: value)))
    }

    /// Encodes a date; nil is a null reference.
    public func encode(_ value: PropertyListDate?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes bytes as an NSData object; nil as nil.
    public func encodeData(_ value: [UInt8]?, forKey key: String) throws(ArchiveError) {
        guard let value else { return try append(self.key(key).number, .uid, 0) }
        let object = value.withUnsafeBytes { table.data($0) }
        try append(self.key(key).number, .uid, UInt64(uid(ofLeaf: object)))
    }

    /// Encodes a property-list value as objects: arrays as NSArray, dictionaries as NSDictionary, dates as NSDate, the
    /// rest as leaves. Null becomes NSNull; nil stays nil.
    ///
    /// - Throws: `invalidValue` for a UID and for a date that is not finite.
    public func encode(_ value: PropertyListValue?, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(try uid(ofPropertyList: value)))
        try drainOutside()
    }

    /// Encodes a property list; nil is a null reference.
    public func encode(_ value: PropertyListValue?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    // MARK: - Objects

    /// Encodes a reference to an object; nil as nil. The object is written once.
    public func encode(_ object: (any KeyedEncodable)?, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(uid(ofObject: object)))
        try drainOutside()
    }

    /// Encodes an object, once however often it is encoded; nil is a null reference.
    public func encode(_ object: (any KeyedEncodable)?, forKey key: String) throws(ArchiveError) {
        try encode(object, forKey: self.key(key))
    }

    /// Encodes objects as an NSArray.
    public func encode(_ objects: [any KeyedEncodable], forKey key: String) throws(ArchiveError) {
        try encode(.collection(ArchivedCollection(elements: objects.map { .object($0) })), forKey: key)
    }

    /// Encodes any object of an archive; nil as nil.
    public func encode(_ value: ArchiveValue?, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(try uid(of: value)))
        try drainOutside()
    }

    /// Encodes a value of any kind; nil is a null reference.
    public func encode(_ value: ArchiveValue?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes a reference that is kept only if the object is also encoded unconditionally, before or after, anywhere
    /// in the archive; otherwise it decodes as nil. It is for a parent or an owner.
    public func encodeConditionalObject(_ object: (any KeyedEncodable)?, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .uid, UInt64(conditionalUID(of: object)))
    }

    /// Encodes any object of an archive conditionally. Leaves are encoded unconditionally.
    public func encodeConditionalObject(_ value: ArchiveValue?, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .uid, UInt64(try conditionalUID(of: value)))
    }

    func conditionalUID(of value: ArchiveValue?) throws(ArchiveError) -> UInt32 {
        guard let identity = value?.identity else { return try uid(of: value) }
        return conditionalUID(of: identity)
    }

    func conditionalUID(of object: AnyObject?) -> UInt32 {
        guard let object else { return 0 }
        if let known = identities[ObjectIdentifier(object)] { return known }
        let uid = newUID(Self.vacant)
        identities[ObjectIdentifier(object)] = uid
        retained.append(object)
        return uid
    }

    // MARK: - UIDs

    @inline(__always)
    func uid(ofString text: String) -> UInt32 {
        uid(ofStringObject: table.string(text))
    }

    @inline(__always)
    func uid(ofStringObject object: UInt32) -> UInt32 {
        // A leaf “$null” would decode as nil in every reader.
        object == entries.nothing ? uidOfLiteralNull() : uid(ofLeaf: object)
    }

    /// The UID of the leaf just added to the table.
    @inline(__always)
    func uid(ofLeaf object: UInt32) -> UInt32 {
        let next = UInt32(truncatingIfNeeded: entries.count)
        let uid = table.uid(ofLastLeafOr: next)
        if uid == next { _ = newUID(object) }
        return uid
    }

    /// The UID of an NSMutableString with the text “$null”, the only way to store it.
    private func uidOfLiteralNull() -> UInt32 {
        if literalNullUID == 0 {
            literalNullUID = newUID(Self.vacant)
            queue.append(.value(.mutableString(ArchivedMutableString("$null")), uid: literalNullUID))
        }
        return literalNullUID
    }

    func uid(ofDate date: PropertyListDate) throws(ArchiveError) -> UInt32 {
        let seconds = date.secondsSinceReferenceDate
        let bits = seconds.bitPattern
        if let known = dateUIDs.find(bits, newUID: UInt32(truncatingIfNeeded: entries.count)) { return known }
        let uid = newUID(Self.vacant)
        let (classUID, isFirst) = self.uid(ofClass: dateClass)
        // Uses its own two fields, because the record's buffer may be in use.
        withUnsafeTemporaryAllocation(of: BinaryPropertyListField.self, capacity: 2) { pair in
            pair.initializeElement(at: 0, to: BinaryPropertyListField(key: timeKey, kind: .unsharedReal, payload: bits))
            pair.initializeElement(
                at: 1, to: BinaryPropertyListField(key: classKey, kind: .uid, payload: UInt64(classUID)))
            entries.set(uid, table.dictionary(UnsafeBufferPointer(pair)))
        }
        if isFirst { writeClass(classes[dateClass].description, uid: classUID) }
        return uid
    }

    func uid(ofObject object: (any KeyedEncodable)?) -> UInt32 {
        guard let object else { return 0 }
        return uid(ofIdentity: object) { .object(object, uid: $0) }
    }

    /// The UID of an object with an identity. The object is queued at its first unconditional occurrence.
    func uid(ofIdentity object: AnyObject, queued: (UInt32) -> QueuedObject) -> UInt32 {
        let identity = ObjectIdentifier(object)
        if let known = identities[identity] {
            if entries.get(known) == Self.vacant {
                entries.set(known, Self.awaited)
                queue.append(queued(known))
            }
            return known
        }
        let uid = newUID(Self.awaited)
        identities[identity] = uid
        retained.append(object)
        queue.append(queued(uid))
        return uid
    }
}
