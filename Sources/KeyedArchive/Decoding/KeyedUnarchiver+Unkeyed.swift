public import PropertyList

extension KeyedUnarchiver {
    // Values without a key are decoded in the order of their encoding. A call beyond the last one is an error.

    /// Decodes the next object; nil when it is nil.
    public func decodeObject() throws(ArchiveError) -> ArchiveValue? {
        try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            try object(at: try nextNumber(), allowing: implicitlyAllowed)
        }
    }

    /// Decodes the next object, of these classes only.
    public func decodeObject(ofClasses classes: AllowedClasses) throws(ArchiveError) -> ArchiveValue? {
        try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            try object(at: try nextNumber(), allowing: classes)
        }
    }

    /// Decodes the next object, which is data.
    public func decodeDataObject() throws(ArchiveError) -> [UInt8]? {
        let value = try decodeObject()
        return try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            guard let value else { return nil }
            guard let bytes = value.dataValue else { throw .corrupt("the object is \(value.className), not data") }
            return bytes
        }
    }

    /// Decodes the next bytes.
    public func decodeBytes() throws(ArchiveError) -> [UInt8]? {
        try decodeDataObject()
    }

    /// Decodes the next property list value.
    public func decodePropertyList() throws(ArchiveError) -> PropertyListValue? {
        try guarded(nil, otherwise: nil) { () throws(ArchiveError) in
            let number = try nextNumber()
            let list = reader.propertyList
            if let uid = try lifted({ () throws(PropertyListError) in try list.uid(at: number) }) {
                return try reader.propertyListValue(at: uid)
            }
            return try lifted { () throws(PropertyListError) in try list.value(at: number) }
        }
    }

    /// Decodes the next value, of the C type with this Objective-C letter.
    ///
    /// - Throws: `readCorrupt` when the value is not one of the type.
    public func decodeValue(ofObjCType letter: Character) throws(ArchiveError) -> ArchiveScalar {
        try guarded(nil, otherwise: .object(nil)) { () throws(ArchiveError) in
            try scalar(at: try nextNumber(), as: try ObjCType(letter))
        }
    }

    /// Decodes the next values, one for each letter.
    public func decodeValues(ofObjCTypes letters: String) throws(ArchiveError) -> [ArchiveScalar] {
        var values: [ArchiveScalar] = []
        for letter in letters { values.append(try decodeValue(ofObjCType: letter)) }
        return values
    }

    /// Decodes the next value, a C array of this many values.
    public func decodeArray(ofObjCType letter: Character, count: Int) throws(ArchiveError) -> [ArchiveScalar] {
        try guarded(nil, otherwise: []) { () throws(ArchiveError) in
            let type = try ObjCType(letter)
            let number = try nextNumber()
            guard let uid = try lifted({ () throws(PropertyListError) in try reader.propertyList.uid(at: number) }),
                let record = try reader.record(at: uid)
            else { throw .corrupt("the value is not a C array") }
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
            let real = Self.real(value)
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
