/// Keeps what is decoded in proportion to the input: objects that lie side by side cannot have more bytes than the file.
/// Those of a table that points into the same bytes again and again would.
package struct DecodingBudget {
    private let reader: BinaryPropertyListReader
    private var left: Int

    /// - Parameters:
    ///   - reader: the table.
    ///   - factor: how often an object may be decoded.
    package init(_ reader: BinaryPropertyListReader, factor: Int = 1) {
        self.reader = reader
        left = reader.storage.bytes.count.multipliedReportingOverflow(by: factor).partialValue
    }

    /// Takes the bytes of an object that is about to be decoded. O(1).
    ///
    /// - Throws: `readCorrupt` when all objects so far have more bytes than there are.
    package mutating func spend(_ number: Int) throws(PropertyListError) {
        let bytes = try reader.payloadBytes(of: number)
        // What fits a register weighs nothing.
        if bytes > 15 { left -= bytes }
        guard left >= 0 else {
            throw .corrupt(
                "the objects overlap: together they have more bytes than the file", at: try reader.offset(of: number))
        }
    }
}

extension BinaryPropertyListReader {
    /// The bytes that a string, data or container takes behind its marker; 0 for others, which are small.
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
