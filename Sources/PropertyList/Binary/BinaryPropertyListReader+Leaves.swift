extension BinaryPropertyListReader {
    /// A number object, in the width of its value.
    package enum Number: Sendable, Hashable {
        case boolean(Bool)
        case integer(Int64)
        case wideInteger(Int128)
        case real(Double)
        case single(Float)
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
    package func string(at number: Int) throws(PropertyListError) -> String? {
        let offset = try offset(of: number)
        switch marker(at: offset) & 0xF0 {
        case 0x50:
            let (count, start) = try payload(at: offset, unit: 1)
            try checkLeaf(count, at: offset)
            let bytes = UnsafeRawBufferPointer(start: base + start, count: count)
            if Self.isASCII(bytes) { return String(decoding: bytes, as: UTF8.self) }
            return String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
        case 0x60:
            let (count, start) = try payload(at: offset, unit: 2)
            try checkLeaf(count * 2, at: offset)
            return String(decoding: units(count, from: start), as: UTF16.self)
        default:
            return nil
        }
    }

    /// The text of a string as a value, or nil for another object. An unpaired surrogate keeps its units.
    package func text(at number: Int) throws(PropertyListError) -> PropertyListValue? {
        let offset = try offset(of: number)
        guard marker(at: offset) & 0xF0 == 0x60 else { return try string(at: number).map { .string($0) } }
        let (count, start) = try payload(at: offset, unit: 2)
        try checkLeaf(count * 2, at: offset)
        if let text = String(validating: units(count, from: start), as: UTF16.self) { return .string(text) }
        return .utf16(Array(units(count, from: start)))
    }

    /// The UTF-16 units of a string with an unpaired surrogate; nil for every other object.
    package func unpairedUnits(at number: Int) throws(PropertyListError) -> [UInt16]? {
        guard marker(at: try offset(of: number)) & 0xF0 == 0x60, case .utf16(let units)? = try text(at: number) else {
            return nil
        }
        return units
    }

    private func units(_ count: Int, from start: Int) -> some Collection<UInt16> {
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

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var seen: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            seen |= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < bytes.count {
            seen |= UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
