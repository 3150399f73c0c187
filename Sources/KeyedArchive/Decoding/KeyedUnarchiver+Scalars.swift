import PropertyList

extension KeyedUnarchiver {
    // An absent key gives 0 or false; `containsValue(forKey:)` distinguishes them. A scalar may be inline or an object.

    /// Decodes a boolean; a number counts as true when it is not 0.
    public func decodeBool(forKey key: String) throws(ArchiveError) -> Bool {
        try guarded(key, otherwise: false) { () throws(ArchiveError) in
            guard let number = try number(at: self.number(forKey: key)) else { return false }
            return switch number {
            case .boolean(let value): value
            case .integer(let value): value != 0
            case .wideInteger: true
            case .real(let value): value != 0
            case .single(let value): value != 0
            }
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
    public func decodeInt32(forKey key: String) throws(ArchiveError) -> Int32 {
        try guarded(key, otherwise: 0) { () throws(ArchiveError) in
            let value = try Self.integer(try number(at: self.number(forKey: key)))
            guard let narrow = Int32(exactly: value) else { throw .corrupt("\(value) does not fit 32 bits") }
            return narrow
        }
    }

    /// Decodes C's int, which has 32 bits.
    public func decodeCInt(forKey key: String) throws(ArchiveError) -> CInt { try decodeInt32(forKey: key) }

    /// Decodes a real; an integer is converted.
    public func decodeDouble(forKey key: String) throws(ArchiveError) -> Double {
        try guarded(key, otherwise: 0) { () throws(ArchiveError) in
            Self.real(try number(at: self.number(forKey: key)))
        }
    }

    /// Decodes a number as ``decodeDouble(forKey:)`` does, and rounds it to single precision.
    public func decodeFloat(forKey key: String) throws(ArchiveError) -> Float {
        Float(try decodeDouble(forKey: key))
    }

    /// Decodes bytes: inline data, an NSData or an NSMutableData; nil when absent.
    public func decodeBytes(forKey key: String) throws(ArchiveError) -> [UInt8]? {
        try guarded(key, otherwise: nil) { () throws(ArchiveError) in
            guard let number = number(forKey: key) else { return nil }
            if let bytes = try lifted({ () throws(PropertyListError) in
                try reader.propertyList.data(at: number)
            }) {
                return Array(bytes)
            }
            guard let value = try object(at: number) else { return nil }
            guard let bytes = value.dataValue else { throw .corrupt("the value is not data but \(value.className)") }
            return bytes
        }
    }

    static func integer(_ number: BinaryPropertyListReader.Number?) throws(ArchiveError) -> Int64 {
        switch number {
        case nil: return 0
        case .integer(let value): return value
        case .boolean(let value): return value ? 1 : 0
        case .real(let value):
            guard let whole = Int64(exactly: value) else { throw .corrupt("\(value) is not an integer of 64 bits") }
            return whole
        case .single(let value):
            guard let whole = Int64(exactly: value) else { throw .corrupt("\(value) is not an integer of 64 bits") }
            return whole
        case .wideInteger(let value): throw .corrupt("\(value) is not an integer of 64 bits")
        }
    }

    static func real(_ number: BinaryPropertyListReader.Number?) -> Double {
        switch number {
        case nil: 0
        case .integer(let value): Double(value)
        case .wideInteger(let value): Double(value)
        case .boolean(let value): value ? 1 : 0
        case .real(let value): value
        case .single(let value): Double(value)
        }
    }

    /// A number of the property list, inline or behind a reference; nil for nil and for an absent key.
    func number(at number: Int?) throws(ArchiveError) -> BinaryPropertyListReader.Number? {
        guard let number else { return nil }
        let list = reader.propertyList
        if let value = try lifted({ () throws(PropertyListError) in try list.number(at: number) }) { return value }
        guard let uid = try lifted({ () throws(PropertyListError) in try list.uid(at: number) }) else {
            throw .corrupt("the value is not a number")
        }
        if try reader.isNil(uid) { return nil }
        let inner = try reader.number(of: uid)
        guard let value = try lifted({ () throws(PropertyListError) in try list.number(at: inner) }) else {
            throw .corrupt("the value is not a number")
        }
        return value
    }
}
