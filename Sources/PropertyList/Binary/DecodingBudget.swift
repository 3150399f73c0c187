/// Bounds decoding by the size of the input: the objects of a valid file do not overlap, so together they have no more
/// bytes than the file. A table with many references to the same bytes exceeds that.
package struct DecodingBudget {
    private let reader: BinaryPropertyListReader
    private var left: Int

    /// - Parameters:
    ///   - reader: the property list.
    ///   - factor: the number of times an object may be decoded.
    package init(_ reader: BinaryPropertyListReader, factor: Int = 1) {
        self.reader = reader
        left = reader.storage.bytes.count.multipliedReportingOverflow(by: factor).partialValue
    }

    /// Subtracts the bytes of an object about to be decoded. O(1).
    ///
    /// - Throws: `readCorrupt` when the objects so far exceed the file.
    package mutating func spend(_ number: Int) throws(PropertyListError) {
        let bytes = try reader.payloadBytes(of: number)
        // Small objects are free.
        if bytes > 15 { left -= bytes }
        guard left >= 0 else {
            throw .corrupt(
                "the objects overlap: together they have more bytes than the file", at: try reader.offset(of: number))
        }
    }
}

extension BinaryPropertyListReader {
    /// The payload bytes of a string, data or container; 0 for other objects, which are small.
    func payloadBytes(of number: Int) throws(PropertyListError) -> Int {
        let offset = try offset(of: number)
        switch marker(at: offset) & 0xF0 {
        case 0x40, 0x50: return try payload(at: offset, unit: 1).count
        case 0x60: return try payload(at: offset, unit: 2).count * 2
        case 0xA0, 0xC0: return try payload(at: offset, unit: referenceSize).count * referenceSize
        case 0xD0: return try payload(at: offset, unit: referenceSize * 2).count * referenceSize * 2
        default: return 0
        }
    }
}
