/// The readable part of a damaged property list: an object table, some of whose objects may be damaged.
package struct PropertyListSalvage: Sendable {
    /// The objects; access to a damaged one is an error.
    package let reader: BinaryPropertyListReader
    /// A description of the method that found them.
    package let method: String
    /// The damage.
    package let error: PropertyListError?
    /// What the text of an XML property list has and the objects do not show: equal keys, data that is not Base64.
    package let findings: [PropertyListFinding]

    /// Opens a property list in either form as far as it is readable; nil when nothing is.
    ///
    /// A binary one without trailer or offset table is scanned from its first object, because writers store objects in
    /// the order of their numbers. An XML one is read up to the damage, and open containers are closed.
    package init?(_ bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard) {
        switch PropertyListFormat(detecting: bytes) {
        case .binary:
            do throws(PropertyListError) {
                reader = try BinaryPropertyListReader(copying: bytes, limits: limits)
                method = "by the offset table"
                error = nil
                findings = []
            } catch {
                guard let scan = ObjectScan.best(bytes), let found = try? scan.reader(of: bytes, limits: limits)
                else { return nil }
                reader = found
                method = "one after the other, without the offset table"
                self.error = error
                findings = []
            }
        case .xml:
            guard let (storage, failure, remarks) = XMLPropertyListReader.salvage(from: bytes, limits: limits),
                let found = try? BinaryPropertyListReader(storage, limits: limits)
            else { return nil }
            reader = found
            method = failure == nil ? "as it is" : "up to the damage"
            error = failure
            findings = remarks
        case nil:
            guard OpenStepPropertyListReader.mayBegin(bytes),
                let (storage, remarks) = try? OpenStepPropertyListReader.binary(from: bytes, limits: limits),
                let found = try? BinaryPropertyListReader(storage, limits: limits)
            else { return nil }
            reader = found
            method = "as it is"
            error = nil
            findings = remarks
        }
    }
}

/// A scan of consecutive objects from the start of a file, for an assumed size of references.
private struct ObjectScan {
    let referenceSize: Int
    private(set) var offsets: [Int] = []
    private(set) var end = 8
    private var outside = 0

    /// The scan that covers most of the file.
    static func best(_ bytes: UnsafeRawBufferPointer) -> ObjectScan? {
        let scans = [1, 2, 4, 3, 8].map { ObjectScan(bytes, referenceSize: $0) }
        // References of the right size name existing objects, except for lost ones.
        let best = scans.max { a, b in
            (a.end - 8 - a.outside * 16, -a.referenceSize) < (b.end - 8 - b.outside * 16, -b.referenceSize)
        }
        guard let best, best.offsets.count > 1 else { return nil }
        return best
    }

    private init(_ bytes: UnsafeRawBufferPointer, referenceSize: Int) {
        self.referenceSize = referenceSize
        // A reference above the largest possible count shows a wrong size.
        let most = bytes.count
        while end < bytes.count, let next = Self.end(ofObjectAt: end, in: bytes, referenceSize) {
            let marker = bytes[end]
            if marker >= 0xA0, next - end >= referenceSize + 1 {
                var number = 0
                for index in 0..<referenceSize { number = number << 8 | Int(bytes[next - referenceSize + index]) }
                if number >= most || number == 0 { outside += 1 }
            }
            offsets.append(end)
            end = next
        }
    }

    private static func end(ofObjectAt start: Int, in bytes: UnsafeRawBufferPointer, _ referenceSize: Int) -> Int? {
        let marker = bytes[start]
        let low = Int(marker & 0x0F)
        var position = start + 1
        func counted(_ unit: Int) -> Int? {
            var count = low
            if low == 15 {
                guard position < bytes.count, bytes[position] & 0xF0 == 0x10, bytes[position] & 0x0F <= 3 else {
                    return nil
                }
                let size = 1 << Int(bytes[position] & 0x0F)
                guard position + 1 + size <= bytes.count else { return nil }
                var value: UInt64 = 0
                for index in 0..<size { value = value << 8 | UInt64(bytes[position + 1 + index]) }
                guard value <= UInt64(bytes.count) else { return nil }
                count = Int(value)
                position += 1 + size
            }
            return position + count * unit
        }
        let end: Int?
        switch marker {
        case 0x00, 0x08, 0x09: end = position
        case 0x10...0x14, 0x22, 0x23, 0x33: end = position + (1 << low)
        case 0x40...0x4F, 0x50...0x5F: end = counted(1)
        case 0x60...0x6F: end = counted(2)
        case 0x80...0x8F: end = position + low + 1
        case 0xA0...0xAF, 0xC0...0xCF: end = counted(referenceSize)
        case 0xD0...0xDF: end = counted(referenceSize * 2)
        default: end = nil
        }
        guard let end, end <= bytes.count else { return nil }
        return end
    }

    /// A reader of the objects, with a new table and trailer.
    func reader(
        of bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> BinaryPropertyListReader {
        // A trailer may not list more objects than references can name.
        var offsets = offsets
        if referenceSize < 8 { offsets = Array(offsets.prefix((1 << (referenceSize * 8)) - 1)) }
        var file = Array("bplist00".utf8) + bytes[8..<end]
        let table = file.count
        for offset in offsets { Self.append(UInt64(offset), to: &file) }
        file.append(contentsOf: [0, 0, 0, 0, 0, 0, 8, UInt8(referenceSize)])
        Self.append(UInt64(offsets.count), to: &file)
        Self.append(0, to: &file)
        Self.append(UInt64(table), to: &file)
        return try BinaryPropertyListReader(file, limits: limits)
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
