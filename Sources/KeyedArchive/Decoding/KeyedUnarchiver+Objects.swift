public import PropertyList

extension KeyedUnarchiver {
    /// Decodes the object of a key; nil when it is nil or absent.
    ///
    /// With secure coding only property-list objects are allowed, and within an object's init the classes allowed for
    /// that object. Other classes need the calls that name them.
    public func decodeObject(forKey key: String) throws(ArchiveError) -> ArchiveValue? {
        try decode(key, allowing: implicitlyAllowed)
    }

    /// Decodes the object of a key, which must be an instance of these classes or their subclasses, with everything
    /// below it.
    public func decodeObject(
        ofClasses classes: AllowedClasses, forKey key: String
    ) throws(ArchiveError) -> ArchiveValue? {
        try decode(key, allowing: classes)
    }

    /// Decodes an instance of a Swift class.
    ///
    /// - Throws: `readCorrupt` when the object is of another class.
    public func decodeObject<Object: KeyedCoding>(
        of type: Object.Type, forKey key: String
    ) throws(ArchiveError) -> Object? {
        if bindings[type.archivedClass.name] == nil { setClass(type, forClassName: type.archivedClass.name) }
        let allowed = requiresSecureCoding ? try AllowedClasses([type.archivedClass.name]) : nil
        let value = try decode(key, allowing: allowed)
        return try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let value else { return nil }
            guard case .object(let object) = value, let typed = object as? Object else {
                throw .corrupt("the object is of class \(value.className), not \(type.archivedClass.name)")
            }
            return typed
        }
    }

    /// Decodes the object under `root`, or under the only key.
    public func decodeRootObject() throws(ArchiveError) -> ArchiveValue? {
        try decode(try rootKey(), allowing: requiresSecureCoding ? .propertyList : nil)
    }

    /// Decodes the object under `root`, of these classes only.
    public func decodeRootObject(ofClasses classes: AllowedClasses) throws(ArchiveError) -> ArchiveValue? {
        try decode(try rootKey(), allowing: classes)
    }

    /// The key of the root object: `root`, or the only key.
    private func rootKey() throws(ArchiveError) -> String {
        if reader.topNumber(forKey: KeyedArchiver.rootKey) != nil { return KeyedArchiver.rootKey }
        guard reader.top.count == 1 else {
            let keys = reader.topKeys.prefix(8).map { "“\($0)”" }.joined(separator: ", ")
            throw ArchiveError(
                code: .valueNotFound,
                message: reader.top.isEmpty
                    ? "the archive holds no object"
                    : "the archive has no object under “root”; decode its objects by their keys: \(keys)")
        }
        return reader.topKeys[0]
    }

    /// Decodes a string; nil when it is nil or absent.
    public func decodeString(forKey key: String) throws(ArchiveError) -> String? {
        try typed(key, "a string") { $0.stringValue }
    }

    /// Decodes a date; nil when it is nil or absent.
    public func decodeDate(forKey key: String) throws(ArchiveError) -> PropertyListDate? {
        try typed(key, "a date") { $0.dateValue }
    }

    /// Decodes an NSData or NSMutableData; nil when it is nil or absent.
    public func decodeData(forKey key: String) throws(ArchiveError) -> [UInt8]? {
        try typed(key, "data") { $0.dataValue }
    }

    /// Decodes an array of objects; nil when it is nil or absent.
    public func decodeArray(forKey key: String) throws(ArchiveError) -> [ArchiveValue?]? {
        try typed(key, "an array") { $0.elements }
    }

    /// Decodes a property list value: arrays, dictionaries with string keys, strings, numbers, dates, data.
    public func decodePropertyList(forKey key: String) throws(ArchiveError) -> PropertyListValue? {
        try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let number = number(forKey: key) else { return nil }
            let list = reader.propertyList
            if let uid = try lifted({ () throws(PropertyListError) in try list.uid(at: number) }) {
                return try reader.propertyListValue(at: uid)
            }
            return try lifted { () throws(PropertyListError) in try list.value(at: number) }
        }
    }

    private func typed<Result>(
        _ key: String, _ wanted: String, _ convert: (ArchiveValue) -> Result?
    ) throws(ArchiveError) -> Result? {
        let value = try decode(key, allowing: implicitlyAllowed)
        return try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let value else { return nil }
            guard let result = convert(value) else {
                throw .corrupt("the object is not \(wanted) but an instance of \(value.className)")
            }
            return result
        }
    }

    private func decode(_ key: String, allowing classes: AllowedClasses?) throws(ArchiveError) -> ArchiveValue? {
        try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let number = number(forKey: key) else { return nil }
            return try object(at: number, allowing: classes)
        }
    }

    /// The complete object of a value of the property list.
    func object(at number: Int, allowing classes: AllowedClasses?) throws(ArchiveError) -> ArchiveValue? {
        let outer = allowed
        allowed = classes
        defer { allowed = outer }
        let value = try object(at: number)
        if let classes, let value { try checkLeaf(value, classes) }
        try fillAll()
        return value
    }

    /// Checks a leaf that is the requested object; leaves inside collections are always allowed.
    private func checkLeaf(_ value: ArchiveValue, _ classes: AllowedClasses) throws(ArchiveError) {
        switch value {
        case .string, .boolean, .integer, .wideInteger, .real, .single, .data:
            let name = value.className
            guard classes.contains(name) || classes.contains("NSValue") && name == "NSNumber" else {
                throw .corrupt("the object is of class \(name), which is not allowed here")
            }
        default: break
        }
    }

    /// The object of a value of the property list; the contents of collections may be pending.
    func object(at number: Int) throws(ArchiveError) -> ArchiveValue? {
        let list = reader.propertyList
        if let uid = try lifted({ () throws(PropertyListError) in try list.uid(at: number) }) {
            return try object(of: uid)
        }
        let value = try lifted { () throws(PropertyListError) in try list.value(at: number) }
        guard let leaf = ArchiveValue(leaf: value) else {
            throw .corrupt("the value is stored in place and is not an object")
        }
        return leaf
    }
}
