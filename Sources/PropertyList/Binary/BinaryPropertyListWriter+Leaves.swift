import Platform

extension BinaryPropertyListWriter {
    /// Adds a string. O(length), amortised.
    package func string(_ value: String) -> ObjectNumber {
        var copy = value
        return copy.withUTF8 { string(validUTF8: $0) }
    }

    /// Adds a string of valid UTF-8.
    package func string(validUTF8 text: UnsafeBufferPointer<UInt8>) -> ObjectNumber {
        asciiString(text) ?? wideString(String(decoding: text, as: UTF8.self))
    }

    /// Adds a string of UTF-8, or returns nil when it is invalid.
    package func string(validatingUTF8 text: UnsafeBufferPointer<UInt8>) -> ObjectNumber? {
        if let number = asciiString(text) { return number }
        return String(validating: text, as: UTF8.self).map { wideString($0) }
    }

    /// Prefetches the hash slot of a string that will be added soon.
    package func expect(_ text: UnsafeBufferPointer<UInt8>) {
        if let source = text.baseAddress, text.count > 0 { leaves.prefetch(UnsafeRawPointer(source), text.count) }
    }

    /// Adds a unique ASCII string, which is not looked up.
    package func unsharedString(
        asciiCount count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void
    ) -> ObjectNumber {
        body.ensure(count &+ 16)
        let start = body.base + body.count
        let header = Self.storeHeader(0x50, count: count, at: UnsafeMutableRawPointer(start))
        write(start + header)
        return appendObject(ofSize: header &+ count)
    }

    /// Adds a one-byte string, or returns nil when the text is not ASCII.
    @inline(__always)
    private func asciiString(_ text: UnsafeBufferPointer<UInt8>) -> ObjectNumber? {
        let length = text.count
        body.ensure(length &+ 16)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        let header = Self.storeHeader(0x50, count: length, at: start)
        guard length > 0, let source = text.baseAddress else {
            return commitLeaf(ofSize: header, hash: LeafTable.hash(UnsafeRawPointer(start), header))
        }
        guard let hash = LeafTable.hashCopyingASCII(source, to: start + header, count: length) else { return nil }
        return commitLeaf(ofSize: header &+ length, hash: hash)
    }

    /// Adds a two-byte string.
    @inline(never)
    private func wideString(_ string: String) -> ObjectNumber { wideString(string.utf16, count: string.utf16.count) }

    /// Adds a text, Unicode or not.
    func string(_ text: PropertyListValue) -> ObjectNumber {
        if case .utf16(let units) = text { string(units: units) } else { string(text.text ?? "") }
    }

    /// Adds a string of UTF-16 units that need not be Unicode.
    package func string(units: [UInt16]) -> ObjectNumber { wideString(units, count: units.count) }

    private func wideString(_ units: some Sequence<UInt16>, count: Int) -> ObjectNumber {
        body.ensure(count * 2 + 16)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        var size = Self.storeHeader(0x60, count: count, at: start)
        for unit in units {
            start.storeBytes(of: unit.bigEndian, toByteOffset: size, as: UInt16.self)
            size += 2
        }
        return commitLeaf(ofSize: size)
    }

    package func boolean(_ value: Bool) -> ObjectNumber {
        leaf(value ? 0x09 : 0x08)
    }

    /// Adds null, which does not occur in keyed archives.
    package func null() -> ObjectNumber {
        leaf(0x00)
    }

    private func leaf(_ marker: UInt8) -> ObjectNumber {
        body.ensure(1)
        body.base[body.count] = marker
        return commitLeaf(ofSize: 1)
    }

    /// Adds an integer in the fewest bytes: 1, 2 or 4 unsigned, else 8.
    package func integer(_ value: Int64) -> ObjectNumber {
        guard UInt64(bitPattern: value) < 1024 else { return sharedInteger(value) }
        let index = Int(truncatingIfNeeded: value)
        let known = lastLeaf.smallIntegers[index]
        lastLeaf.slot = -1 &- index
        lastLeaf.tag = known.tag
        if known.number != Self.none { return known.number }
        let number = sharedInteger(value)
        lastLeaf.smallIntegers[index] = SmallInteger(number: number)
        lastLeaf.slot = -1 &- index
        lastLeaf.tag = 0
        return number
    }

    private func sharedInteger(_ value: Int64) -> ObjectNumber {
        body.ensure(16)
        return commitLeaf(ofSize: Self.storeInteger(value, at: UnsafeMutableRawPointer(body.base + body.count)))
    }

    /// Adds an integer outside of `Int64`, in 16 bytes.
    package func integer(_ value: Int128) -> ObjectNumber {
        if let small = Int64(exactly: value) { return integer(small) }
        body.ensure(24)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        start.storeBytes(of: 0x14, as: UInt8.self)
        start.storeBytes(of: UInt64(truncatingIfNeeded: value >> 64).bigEndian, toByteOffset: 1, as: UInt64.self)
        start.storeBytes(of: UInt64(truncatingIfNeeded: value).bigEndian, toByteOffset: 9, as: UInt64.self)
        return commitLeaf(ofSize: 17)
    }

    package func real(_ value: Double) -> ObjectNumber { commitLeaf(ofSize: store(0x23, value.bitPattern)) }

    /// Adds a unique real, which is not looked up.
    @inline(__always)
    func unsharedReal(_ bits: UInt64) -> ObjectNumber { appendObject(ofSize: store(0x23, bits)) }

    package func real(_ value: Float) -> ObjectNumber { commitLeaf(ofSize: store(0x22, value.bitPattern)) }

    package func date(_ value: PropertyListDate) -> ObjectNumber {
        commitLeaf(ofSize: store(0x33, value.secondsSinceReferenceDate.bitPattern))
    }

    /// Writes a marker and a value after the body's end and returns their size.
    @inline(__always)
    private func store(_ marker: UInt8, _ value: some FixedWidthInteger & BitwiseCopyable) -> Int {
        body.ensure(16)
        return Self.store(marker, value.bigEndian, at: UnsafeMutableRawPointer(body.base + body.count))
    }

    package func data(_ value: UnsafeRawBufferPointer) -> ObjectNumber {
        body.ensure(value.count + 16)
        let start = UnsafeMutableRawPointer(body.base + body.count)
        let header = Self.storeHeader(0x40, count: value.count, at: start)
        if let source = value.baseAddress, !value.isEmpty {
            (start + header).copyMemory(from: source, byteCount: value.count)
        }
        return commitLeaf(ofSize: header + value.count)
    }

    package func data(_ value: [UInt8]) -> ObjectNumber { value.withUnsafeBytes { data($0) } }

    // MARK: - Sharing

    /// Appends the leaf just written after the body's end, or returns the number of its equal.
    func commitLeaf(ofSize size: Int) -> ObjectNumber {
        commitLeaf(ofSize: size, hash: LeafTable.hash(UnsafeRawPointer(body.base + body.count), size))
    }

    @inline(__always)
    func commitLeaf(ofSize size: Int, hash: UInt32) -> ObjectNumber {
        let base = UnsafePointer(body.base)
        let start = body.count
        let (known, slot) = leaves.find(hash: hash, newNumber: nextNumber) { number, _ in
            let index = Int(number &- firstNumber)
            guard index >= offsets.firstRetained else { return offsets.isPinned(index, with: base + start, size) }
            let other = offsets.start(of: index, in: base, sizes)
            // A leaf's bytes determine its length, so equal bytes imply an equal leaf even if `other` is shorter.
            return other &+ size <= start && memcmp(base + start, base + other, size) == 0
        }
        lastLeaf.slot = slot
        if let known {
            lastLeaf.tag = leaves.tag(at: slot)
            return known
        }
        lastLeaf.tag = 0
        return appendObject(ofSize: size)
    }

    // MARK: - References into `$objects`

    /// The UID of the last leaf; `newUID` if it has none yet.
    package func uid(ofLastLeafOr newUID: UInt32) -> UInt32 {
        if lastLeaf.tag != 0 { return lastLeaf.tag }
        lastLeaf.tag = newUID
        if lastLeaf.slot >= 0 {
            leaves.setTag(newUID, at: lastLeaf.slot)
        } else {
            lastLeaf.smallIntegers[-1 &- lastLeaf.slot].tag = newUID
        }
        return newUID
    }

    /// Adds a reference into `$objects` of a keyed archive. Each value is stored once.
    package func uid(_ value: UInt32) -> ObjectNumber {
        let index = Int(value)
        // UIDs are dense in archives; an unusually large one uses the common table.
        guard index < uids.recent.count &+ (1 << 16) else { return sparseUID(value) }
        guard index >= uids.recent.origin else { return lowUID(value) }
        if index < uids.recent.count {
            let known = uids.recent[index]
            if known != Self.none { return known }
        } else {
            while index > uids.recent.count { uids.recent.append(Self.none) }
            uids.recent.append(Self.none)
        }
        let number = appendObject(ofSize: storeUID(value))
        uids.recent[index] = number
        return number
    }

    /// Adds a UID whose object is no longer cached.
    @inline(never)
    private func lowUID(_ value: UInt32) -> ObjectNumber {
        let index = Int(value)
        guard index < uids.low.count else { return sparseUID(value) }
        if uids.low[index] == Self.none { uids.low[index] = appendObject(ofSize: storeUID(value)) }
        return uids.low[index]
    }

    private func sparseUID(_ value: UInt32) -> ObjectNumber {
        commitLeaf(ofSize: storeUID(value))
    }

    /// Writes a UID after the body's end and returns its size.
    @inline(__always)
    private func storeUID(_ value: UInt32) -> Int {
        switch value {
        case 0..<0x100: store(0x80, UInt8(truncatingIfNeeded: value))
        case 0x100..<0x1_0000: store(0x81, UInt16(truncatingIfNeeded: value))
        default: store(0x83, value)
        }
    }
}
