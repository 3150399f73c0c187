public import PropertyList

extension KeyedUnarchiver {
    /// Decodes the object of a key; nil when it is nil or absent.
    ///
    /// With secure coding only property-list objects are allowed, and within an object's init the classes allowed for
    /// that object. Other classes need the calls that name them.
    package func decodeObject(forKey key: String) throws(ArchiveError) -> ArchiveValue? {
        try decode(key, allowing: implicitlyAllowed)
    }

    /// Decodes the object of a key, which must be an instance of these classes or their subclasses, with everything
    /// below it.
    package func decodeObject(
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
        setClassIfNew(type)
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

    /// Decodes an array of instances of a Swift class; nil when there is none.
    ///
    /// - Throws: `readCorrupt` when the object is not an array, or one of its elements is of another class.
    public func decodeArrayOfObjects<Object: KeyedCoding>(
        of type: Object.Type, forKey key: String
    ) throws(ArchiveError) -> [Object]? {
        setClassIfNew(type)
        let value = try decode(key, allowing: try AllowedClasses(["NSArray", type.archivedClass.name]))
        return try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let value else { return nil }
            guard let elements = value.elements else {
                throw .corrupt("the object is of class \(value.className), not an array")
            }
            return try elements.map { (element) throws(ArchiveError) in
                guard case .object(let object)? = element, let typed = object as? Object else {
                    throw .corrupt("an element is \(element?.className ?? "nil"), not \(type.archivedClass.name)")
                }
                return typed
            }
        }
    }

    /// Decodes the object under `root`, or under the only key.
    package func decodeRootObject() throws(ArchiveError) -> ArchiveValue? {
        try decode(try rootKey(), allowing: requiresSecureCoding ? .propertyList : nil)
    }

    /// Decodes the object under `root`, of these classes only.
    package func decodeRootObject(ofClasses classes: AllowedClasses) throws(ArchiveError) -> ArchiveValue? {
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
    package func decodeArray(forKey key: String) throws(ArchiveError) -> [ArchiveValue?]? {
        try typed(key, "an array") { $0.elements }
    }

    /// Decodes a property list value: arrays, dictionaries with string keys, strings, numbers, dates, data.
    public func decodePropertyList(forKey key: String) throws(ArchiveError) -> PropertyListValue? {
        try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let number = number(forKey: key) else { return nil }
            return try reader.propertyListValue(in: number)
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
        let outer = checks.allowed
        checks.allowed = classes
        defer { checks.allowed = outer }
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
        if let uid = try list.uid(in: number) { return try object(of: uid) }
        let value = try list.value(in: number)
        guard let leaf = ArchiveValue(leaf: value) else {
            throw .corrupt("the value is stored in place and is not an object")
        }
        return leaf
    }
}

extension KeyedUnarchiver {
    // An absent key gives 0 or false; `containsValue(forKey:)` distinguishes them. A scalar may be inline or an object.

    /// Decodes a boolean; a number counts as true when it is not 0.
    public func decodeBool(forKey key: String) throws(ArchiveError) -> Bool {
        try guarded(key, otherwise: false) { () throws(ArchiveError) in
            guard let number = try number(at: self.number(forKey: key)) else { return false }
            return number.asDouble != 0
        }
    }

    /// Decodes an integer.
    ///
    /// - Throws: `readCorrupt` for a value that is not a whole number of 64 bits.
    public func decodeInt64(forKey key: String) throws(ArchiveError) -> Int64 {
        try guarded(key, otherwise: 0) { () throws(ArchiveError) in
            try Self.integer(try number(at: self.number(forKey: key)))
        }
    }

    /// Decodes a whole number, as ``decodeInt64(forKey:)`` does.
    public func decodeInteger(forKey key: String) throws(ArchiveError) -> Int {
        Int(try decodeInt64(forKey: key))
    }

    /// Decodes an integer of 32 bits.
    ///
    /// - Throws: `readCorrupt` for a value out of range, which is never truncated.
    package func decodeInt32(forKey key: String) throws(ArchiveError) -> Int32 {
        try guarded(key, otherwise: 0) { () throws(ArchiveError) in
            let value = try Self.integer(try number(at: self.number(forKey: key)))
            guard let narrow = Int32(exactly: value) else { throw .corrupt("\(value) does not fit 32 bits") }
            return narrow
        }
    }

    /// Decodes a real; an integer is converted.
    public func decodeDouble(forKey key: String) throws(ArchiveError) -> Double {
        try guarded(key, otherwise: 0) { () throws(ArchiveError) in
            try number(at: self.number(forKey: key))?.asDouble ?? 0
        }
    }

    /// Decodes a number as ``decodeDouble(forKey:)`` does, and rounds it to single precision.
    package func decodeFloat(forKey key: String) throws(ArchiveError) -> Float {
        Float(try decodeDouble(forKey: key))
    }

    /// Decodes bytes: inline data, an NSData or an NSMutableData; nil when absent.
    package func decodeBytes(forKey key: String) throws(ArchiveError) -> [UInt8]? {
        try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let number = number(forKey: key) else { return nil }
            if let bytes = try reader.propertyList.data(in: number) { return Array(bytes) }
            guard let value = try object(at: number) else { return nil }
            guard let bytes = value.dataValue else { throw .corrupt("the value is not data but \(value.className)") }
            return bytes
        }
    }

    static func integer(_ number: BinaryPropertyListReader.Number?) throws(ArchiveError) -> Int64 {
        guard let number else { return 0 }
        guard let integer = number.exactInteger else { throw .corrupt("\(number) is not an integer of 64 bits") }
        return integer
    }

    /// A number of the property list, inline or behind a reference; nil for nil and for an absent key.
    func number(at number: Int?) throws(ArchiveError) -> BinaryPropertyListReader.Number? {
        guard let number else { return nil }
        let list = reader.propertyList
        if let value = try list.number(in: number) { return value }
        guard let uid = try list.uid(in: number) else { throw .corrupt("the value is not a number") }
        if try reader.isNil(uid) { return nil }
        let inner = try reader.number(of: uid)
        guard let value = try list.number(in: inner) else {
            throw .corrupt("the value is not a number")
        }
        return value
    }
}

extension KeyedUnarchiver {
    // Values without a key are decoded in the order of their encoding. A call beyond the last one is an error.

    /// Decodes the next object; nil when it is nil.
    package func decodeObject() throws(ArchiveError) -> ArchiveValue? {
        try decodeNext(allowing: implicitlyAllowed)
    }

    /// Decodes the next object, of these classes only.
    package func decodeObject(ofClasses classes: AllowedClasses) throws(ArchiveError) -> ArchiveValue? {
        try decodeNext(allowing: classes)
    }

    private func decodeNext(allowing classes: AllowedClasses?) throws(ArchiveError) -> ArchiveValue? {
        try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            try object(at: try nextNumber(), allowing: classes)
        }
    }

    /// Decodes the next object, which is data.
    package func decodeDataObject() throws(ArchiveError) -> [UInt8]? {
        let value = try decodeObject()
        return try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            guard let value else { return nil }
            guard let bytes = value.dataValue else { throw .corrupt("the object is \(value.className), not data") }
            return bytes
        }
    }

    /// Decodes the next bytes.
    package func decodeBytes() throws(ArchiveError) -> [UInt8]? {
        try decodeDataObject()
    }

    /// Decodes the next property list value.
    package func decodePropertyList() throws(ArchiveError) -> PropertyListValue? {
        try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            try reader.propertyListValue(in: try nextNumber())
        }
    }

    /// Decodes the next value, of the C type with this Objective-C letter.
    ///
    /// - Throws: `readCorrupt` when the value is not one of the type.
    package func decodeValue(ofObjCType letter: Character) throws(ArchiveError) -> ArchiveScalar {
        try guarded(nil, otherwise: .object(nil)) { () throws(ArchiveError) in
            try scalar(at: try nextNumber(), as: try ObjCType(letter))
        }
    }

    /// Decodes the next values, one for each letter.
    package func decodeValues(ofObjCTypes letters: String) throws(ArchiveError) -> [ArchiveScalar] {
        var values: [ArchiveScalar] = []
        for letter in letters { values.append(try decodeValue(ofObjCType: letter)) }
        return values
    }

    /// Decodes the next value, a C array of this many values.
    package func decodeArray(ofObjCType letter: Character, count: Int) throws(ArchiveError) -> [ArchiveScalar] {
        try guarded(nil, otherwise: []) { () throws(ArchiveError) in
            let type = try ObjCType(letter)
            let number = try nextNumber()
            guard let uid = try reader.propertyList.uid(in: number), let record = try reader.record(at: uid) else {
                throw .corrupt("the value is not a C array")
            }
            guard try record.decodeInteger(forKey: "NS.count") == Int64(count) else {
                throw .corrupt("the C array has not \(count) values")
            }
            guard try record.decodeInteger(forKey: "NS.type") == type.rawValue.asciiValue.map(Int64.init) else {
                throw .corrupt("the C array is not of the type “\(letter)”")
            }
            var values: [ArchiveScalar] = []
            for index in 0..<count {
                guard let slot = record.shape.slot(ofStored: "$\(index)") else {
                    throw .corrupt("the C array ends after \(index) values")
                }
                values.append(try scalar(at: record.number(at: slot), as: type))
            }
            return values
        }
    }

    private func nextNumber() throws(ArchiveError) -> Int {
        guard let number = nextUnkeyed() else {
            throw ArchiveError(code: .valueNotFound, message: "there are no more values without a key")
        }
        return number
    }

    private func scalar(at number: Int, as type: ObjCType) throws(ArchiveError) -> ArchiveScalar {
        if type == .object || type == .text {
            return .object(try object(at: number, allowing: implicitlyAllowed))
        }
        guard let value = try self.number(at: number) else { throw .corrupt("the value is nil, not a number") }
        guard let range = type.range else {
            let real = value.asDouble
            return type == .float ? .single(Float(real)) : .real(real)
        }
        let integer: Int128
        if case .wideInteger(let wide) = value { integer = wide } else { integer = Int128(try Self.integer(value)) }
        guard range.contains(integer) else {
            throw .corrupt("\(integer) is not a value of the C type “\(type.rawValue)”")
        }
        if type == .bool { return .boolean(integer == 1) }
        if let small = Int64(exactly: integer) { return .integer(small) }
        return .unsigned(UInt64(truncatingIfNeeded: integer))
    }
}
