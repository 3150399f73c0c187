import Platform

extension BinaryPropertyListReader {
    /// A number object, in the width of its value.
    package enum Number: Sendable, Hashable, CustomStringConvertible {
        case boolean(Bool)
        case integer(Int64)
        case wideInteger(Int128)
        case real(Double)
        case single(Float)

        /// The number as a real; true is 1.
        package var asDouble: Double {
            switch self {
            case .boolean(let value): value ? 1 : 0
            case .integer(let value): Double(value)
            case .wideInteger(let value): Double(value)
            case .real(let value): value
            case .single(let value): Double(value)
            }
        }

        /// The number as an integer; nil for a fraction, and beyond 64 bits.
        package var exactInteger: Int64? {
            switch self {
            case .boolean(let value): value ? 1 : 0
            case .integer(let value): value
            case .wideInteger(let value): Int64(exactly: value)
            case .real(let value): Int64(exactly: value)
            case .single(let value): Int64(exactly: value)
            }
        }

        package var description: String { PropertyListValue(self).keyText }
    }

    /// A boolean, integer or real, or nil for another object.
    package func number(at number: Int) throws(PropertyListError) -> Number? {
        let offset = try offset(of: number)
        let marker = marker(at: offset)
        switch marker {
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        case 0x10, 0x11, 0x12, 0x13:
            let size = 1 << Int(marker & 0x0F)
            try require(size, at: offset)
            let value = bigEndian(at: offset + 1, size: size)
            return .integer(Int64(bitPattern: value))
        case 0x14:
            try require(16, at: offset)
            let high = bigEndian(at: offset + 1, size: 8)
            let low = bigEndian(at: offset + 9, size: 8)
            let value = Int128(truncatingIfNeeded: UInt128(high) << 64 | UInt128(low))
            if let small = Int64(exactly: value) { return .integer(small) }
            return .wideInteger(value)
        case 0x22:
            try require(4, at: offset)
            return .single(Float(bitPattern: UInt32(truncatingIfNeeded: bigEndian(at: offset + 1, size: 4))))
        case 0x23:
            try require(8, at: offset)
            return .real(Double(bitPattern: bigEndian(at: offset + 1, size: 8)))
        default:
            return nil
        }
    }

    /// A date, or nil for another object.
    package func date(at number: Int) throws(PropertyListError) -> PropertyListDate? {
        let offset = try offset(of: number)
        guard marker(at: offset) == 0x33 else { return nil }
        try require(8, at: offset)
        return PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: bigEndian(at: offset + 1, size: 8)))
    }

    /// A reference into `$objects`, or nil for another object.
    @inline(__always)
    package func uid(at number: Int) throws(PropertyListError) -> UInt32? {
        let offset = try offset(of: number)
        let marker = marker(at: offset)
        guard marker & 0xF0 == 0x80 else { return nil }
        let size = Int(marker & 0x0F) + 1
        try require(size, at: offset)
        if size <= 4 { return UInt32(truncatingIfNeeded: bigEndian(at: offset + 1, size: size)) }
        var value: UInt64 = 0
        for index in 0..<size {
            guard value < 1 << 56 else { throw .corrupt("a UID is out of range", at: offset) }
            value = value << 8 | bigEndian(at: offset + 1 + index, size: 1)
        }
        guard let uid = UInt32(exactly: value) else { throw .corrupt("a UID is out of range", at: offset) }
        return uid
    }

    /// The bytes of a data object, or nil for another object. They are valid as long as `storage`.
    package func data(at number: Int) throws(PropertyListError) -> UnsafeRawBufferPointer? {
        let offset = try offset(of: number)
        guard marker(at: offset) & 0xF0 == 0x40 else { return nil }
        let (count, start) = try payload(at: offset, unit: 1)
        try checkLeaf(count, at: offset)
        return UnsafeRawBufferPointer(start: base + start, count: count)
    }

    /// A string, or nil for another object.
    ///
    /// Bytes beyond ASCII in the one-byte form read as Latin-1, and an unpaired surrogate reads as U+FFFD.
    package func string(at number: Int) throws(PropertyListError) -> String? { try text(at: number)?.text }

    /// The text of UTF-16 units; nil if one is an unpaired surrogate. A text of an archive beyond ASCII is read in a quarter of
    /// the time that the standard library's decoder takes.
    private func pairedText(_ count: Int, from start: Int) -> String? {
        func unit(_ index: Int) -> UInt32 {
            UInt32(UInt16(bigEndian: base.loadUnaligned(fromByteOffset: start + index * 2, as: UInt16.self)))
        }
        var (length, awaitsLow) = (0, false)
        for index in 0..<count {
            let unit = unit(index)
            guard (unit & 0xFC00 == 0xDC00) == awaitsLow else { return nil }
            // A pair is four bytes of UTF-8, two for each half.
            length += unit < 0x80 ? 1 : unit < 0x800 || unit & 0xF800 == 0xD800 ? 2 : 3
            awaitsLow = unit & 0xFC00 == 0xD800
        }
        guard !awaitsLow else { return nil }
        return String(unsafeUninitializedCapacity: length) { bytes in
            var (place, high) = (0, UInt32(0))
            func append(_ byte: UInt32) {
                bytes[place] = UInt8(truncatingIfNeeded: byte)
                place += 1
            }
            for index in 0..<count {
                let unit = unit(index)
                switch unit {
                case ..<0x80: append(unit)
                case ..<0x800:
                    append(0xC0 | unit >> 6)
                    append(0x80 | unit & 0x3F)
                case 0xD800..<0xDC00: high = unit
                case 0xDC00..<0xE000:
                    let scalar = 0x10000 + ((high & 0x3FF) << 10 | unit & 0x3FF)
                    append(0xF0 | scalar >> 18)
                    append(0x80 | scalar >> 12 & 0x3F)
                    append(0x80 | scalar >> 6 & 0x3F)
                    append(0x80 | scalar & 0x3F)
                default:
                    append(0xE0 | unit >> 12)
                    append(0x80 | unit >> 6 & 0x3F)
                    append(0x80 | unit & 0x3F)
                }
            }
            return place
        }
    }

    /// The text of a string as a value, or nil for another object. An unpaired surrogate keeps its units.
    package func text(at number: Int) throws(PropertyListError) -> PropertyListValue? {
        let offset = try offset(of: number)
        switch marker(at: offset) & 0xF0 {
        case 0x50:
            let (count, start) = try payload(at: offset, unit: 1)
            try checkLeaf(count, at: offset)
            let bytes = UnsafeRawBufferPointer(start: base + start, count: count)
            return .string(Self.isASCII(bytes) ? String(decoding: bytes, as: UTF8.self) : String(latin1: bytes))
        case 0x60:
            let (count, start) = try payload(at: offset, unit: 2)
            try checkLeaf(count * 2, at: offset)
            return pairedText(count, from: start).map { .string($0) } ?? .utf16(Array(units(count, from: start)))
        default: return nil
        }
    }

    func units(_ count: Int, from start: Int) -> some Collection<UInt16> {
        (0..<count).lazy.map { [base] index in
            UInt16(bigEndian: base.loadUnaligned(fromByteOffset: start + index * 2, as: UInt16.self))
        }
    }

    /// The bytes of a one-byte string that is pure ASCII; nil for every other object.
    ///
    /// They are valid as long as `storage`. Nothing is allocated.
    package func asciiString(at number: Int) throws(PropertyListError) -> UnsafeRawBufferPointer? {
        let offset = try offset(of: number)
        guard marker(at: offset) & 0xF0 == 0x50 else { return nil }
        let (count, start) = try payload(at: offset, unit: 1)
        let bytes = UnsafeRawBufferPointer(start: base + start, count: count)
        return Self.isASCII(bytes) ? bytes : nil
    }

    /// Whether the object is this string. O(length), allocates nothing for ASCII.
    package func isString(_ number: Int, _ text: StaticString) throws(PropertyListError) -> Bool {
        guard let bytes = try asciiString(at: number) else { return false }
        return text.withUTF8Buffer { $0.count == bytes.count && $0.elementsEqual(bytes) }
    }

    @inline(__always)
    private func require(_ size: Int, at offset: Int) throws(PropertyListError) {
        guard size <= tableOffset - (offset + 1) else { throw .corrupt("an object is cut off", at: offset) }
    }

    private func checkLeaf(_ bytes: Int, at offset: Int) throws(PropertyListError) {
        guard bytes <= limits.maximumLeafBytes else {
            throw .corrupt("a value has \(bytes) bytes, the limit is \(limits.maximumLeafBytes)", at: offset)
        }
    }

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.reduce(0, |) < 0x80 }
}

extension String {
    /// The text of bytes in Latin-1.
    init(latin1 bytes: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}

/// Fast paths for values in the usual forms of keyed archives. One call goes from a dictionary's value through a
/// reference to the leaf. They return nil for every other form and every error; the caller then takes the general path,
/// which reports errors.
///
/// A pass over the fields of records is 1.5 times as fast with them, and over the fields of a mapped archive twice.
extension BinaryPropertyListReader {
    /// The key references of dictionaries with the same keys, and the slot of one value.
    package struct KnownKeys {
        let references: UnsafeRawBufferPointer
        let slot: Int

        /// The keys of one of the reader's dictionaries.
        package init?(_ container: BinaryPropertyListContainer, slot: Int, in reader: BinaryPropertyListReader) {
            guard container.kind == .dictionary, container.count < 15, slot >= 0, slot < container.count else {
                return nil
            }
            references = reader.keyReferences(of: container)
            self.slot = slot
        }
    }

    /// The text of an ASCII string of up to 255 bytes that is not `$null`.
    ///
    /// - Parameters:
    ///   - slot: the value's slot.
    ///   - container: the dictionary.
    ///   - table: the array that UIDs are indexes into.
    /// - Returns: nil for any other value.
    package func plainString(
        at slot: Int, in container: BinaryPropertyListContainer, through table: BinaryPropertyListContainer
    ) -> String? {
        guard let bytes = plainText(at: slot, in: container, through: table), Self.isASCII(bytes) else { return nil }
        if bytes.count == 5, bytes.elementsEqual("$null".utf8) { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An integer of up to eight bytes.
    package func plainInteger(
        at slot: Int, in container: BinaryPropertyListContainer, through table: BinaryPropertyListContainer
    ) -> Int64? {
        guard let place = target(of: slot, in: container, through: table) else { return nil }
        let marker = marker(at: place)
        guard marker & 0xFC == 0x10 else { return nil }
        let size = 1 << Int(marker & 0x03)
        guard size <= tableOffset - (place + 1) else { return nil }
        return Int64(bitPattern: bigEndian(at: place + 1, size: size))
    }

    /// The finite real of eight bytes under the known key of a dictionary with the known keys.
    package func plainReal(
        at slot: Int, in container: BinaryPropertyListContainer, through table: BinaryPropertyListContainer,
        under keys: KnownKeys
    ) -> Double? {
        guard let place = target(of: slot, in: container, through: table), let known = keys.references.baseAddress
        else {
            return nil
        }
        let marker = marker(at: place)
        let length = keys.references.count
        guard marker & 0xF0 == 0xD0, Int(marker & 0x0F) * referenceSize == length, marker & 0x0F < 15,
            length * 2 <= tableOffset - (place + 1), memcmp(known, base + (place + 1), length) == 0
        else { return nil }
        let number = bigEndian(at: place + 1 + length + keys.slot * referenceSize, size: referenceSize)
        guard let real = self.place(of: Int(truncatingIfNeeded: number)), self.marker(at: real) == 0x23,
            tableOffset - (real + 1) >= 8
        else { return nil }
        let value = Double(bitPattern: bigEndian(at: real + 1, size: 8))
        return value.isFinite ? value : nil
    }

    @inline(__always)
    private func plainText(
        at slot: Int, in container: BinaryPropertyListContainer, through table: BinaryPropertyListContainer
    ) -> UnsafeRawBufferPointer? {
        guard let place = target(of: slot, in: container, through: table) else { return nil }
        let marker = marker(at: place)
        guard marker & 0xF0 == 0x50 else { return nil }
        var count = Int(marker & 0x0F)
        var start = place + 1
        if count == 15 {
            guard tableOffset - start >= 2, self.marker(at: start) == 0x10 else { return nil }
            count = Int(self.marker(at: start + 1))
            start += 2
        }
        guard count <= tableOffset - start, count <= limits.maximumLeafBytes else { return nil }
        return UnsafeRawBufferPointer(start: base + start, count: count)
    }

    /// The offset of a dictionary's value, or of the object that it refers to; nil for a reference to nil.
    @inline(__always)
    private func target(
        of slot: Int, in container: BinaryPropertyListContainer, through table: BinaryPropertyListContainer
    ) -> Int? {
        guard let place = place(of: valueReference(slot, in: container)) else { return nil }
        let marker = marker(at: place)
        guard marker & 0xF0 == 0x80 else { return place }
        let size = Int(marker & 0x0F) + 1
        guard size <= 4, size <= tableOffset - (place + 1) else { return nil }
        let uid = Int(truncatingIfNeeded: bigEndian(at: place + 1, size: size))
        guard uid > 0, uid < table.count else { return nil }
        return self.place(of: reference(uid, in: table))
    }

    @inline(__always)
    private func place(of number: Int) -> Int? {
        guard number >= 0, number < objectCount else { return nil }
        let offset = bigEndian(at: tableOffset + number * offsetSize, size: offsetSize)
        guard offset >= 8, offset < UInt64(tableOffset) else { return nil }
        return Int(truncatingIfNeeded: offset)
    }
}
