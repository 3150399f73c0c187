import PropertyList

extension KeyedArchiver {
    // Each call has two forms: with a registered key, for many records, and with the key's text.

    /// Encodes an inline boolean.
    public func encode(_ value: Bool, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .boolean, value ? 1 : 0)
    }

    /// Encodes true or false.
    public func encode(_ value: Bool, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes an inline integer.
    public func encode(_ value: Int64, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .integer, UInt64(bitPattern: value))
    }

    /// Encodes a whole number of 64 bits.
    public func encode(_ value: Int64, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes a whole number of 32 bits.
    public func encode(_ value: Int32, forKey key: String) throws(ArchiveError) {
        try encode(Int64(value), forKey: key)
    }

    /// Encodes a whole number for a prepared key.
    public func encode(_ value: Int, forKey key: ArchiveKey) throws(ArchiveError) {
        try encode(Int64(value), forKey: key)
    }

    /// Encodes a whole number.
    public func encode(_ value: Int, forKey key: String) throws(ArchiveError) {
        try encode(Int64(value), forKey: key)
    }

    /// Encodes an inline single-precision real.
    public func encode(_ value: Float, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .single, UInt64(value.bitPattern))
    }

    /// Encodes a number in single precision.
    public func encode(_ value: Float, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes an inline real.
    public func encode(_ value: Double, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .real, value.bitPattern)
    }

    /// Encodes a number in double precision.
    public func encode(_ value: Double, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes inline bytes.
    public func encodeBytes(_ bytes: UnsafeRawBufferPointer, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .object, UInt64(table.data(bytes)))
    }

    /// Encodes bytes within the object itself.
    public func encodeBytes(_ bytes: [UInt8], forKey key: String) throws(ArchiveError) {
        let object = bytes.withUnsafeBytes { table.data($0) }
        try append(self.key(key).number, .object, UInt64(object))
    }

    /// Encodes an inline scalar under a stored key.
    func encodeInline(_ value: PropertyListValue, rawKey: UInt32) throws(ArchiveError) {
        switch value {
        case .boolean(let value): try append(rawKey, .boolean, value ? 1 : 0)
        case .integer(let value): try append(rawKey, .integer, UInt64(bitPattern: value))
        case .real(let value): try append(rawKey, .real, value.bitPattern)
        case .single(let value): try append(rawKey, .single, UInt64(value.bitPattern))
        default:
            let object = try lifted { () throws(PropertyListError) in try table.add(value) }
            try append(rawKey, .object, UInt64(object))
        }
    }
}
