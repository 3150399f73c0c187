extension PropertyListValue {
    /// Reads a property list, binary, XML or in OpenStep's text form, detected by its first bytes.
    ///
    /// Memory and time are proportional to the input: each object is decoded once and shared.
    public init(
        decoding bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        self = try BinaryPropertyListReader(detecting: bytes, limits: limits).value()
    }

    /// Reads a property list, binary, XML or in OpenStep's text form, detected by its first bytes.
    public init(decoding bytes: [UInt8], limits: PropertyListLimits = .standard) throws(PropertyListError) {
        self = try BinaryPropertyListReader(detecting: PropertyListStorage(bytes), limits: limits).value()
    }

    /// Writes the value as a property list.
    ///
    /// - Throws: `writeInvalid` for a value that the format cannot represent: in XML null, sets, keys
    ///   that are not texts, texts that are not Unicode, and dates that are not finite.
    public func encoded(as format: PropertyListFormat) throws(PropertyListError) -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        let top = try writer.add(self)
        let binary = try writer.finish(topObject: top)
        return format == .binary ? binary : try BinaryPropertyListReader(binary).xml()
    }
}

extension BinaryPropertyListReader {
    /// Opens a property list in any form; the text forms are converted to the binary one first.
    public init(
        detecting bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(detecting: PropertyListStorage(copying: bytes), limits: limits)
    }

    /// Opens a property list in any form; the text forms are converted to the binary one first.
    public init(
        detecting storage: PropertyListStorage, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        switch PropertyListFormat(detecting: storage.bytes) {
        case .binary:
            try self.init(storage, limits: limits)
        case .xml:
            try self.init(XMLPropertyListReader.binary(from: storage.bytes, limits: limits), limits: limits)
        case nil:
            guard OpenStepPropertyListReader.mayBegin(storage.bytes) else {
                throw .corrupt("this is neither a binary nor an XML property list", at: 0)
            }
            try self.init(
                OpenStepPropertyListReader.binary(from: storage.bytes, limits: limits).storage, limits: limits)
        }
    }
}
