import Files
import Glibc

/// An item's key in sixteen bytes: a UUID packed from its canonical, upper-case text, or a cell with another text.
///
/// The item's flags tell the two apart.
package struct PackedKey: BitwiseCopyable, Equatable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(text cell: Cell) {
        high = cell.head
        low = cell.tail
    }

    package var cell: Cell {
        var cell = Cell(.absent, low)
        cell.head = high
        return cell
    }

    package static let textCount = 36

    /// The packed form of 36 characters such as `6F9619FF-8B86-4D01-B42D-00CF4FC964FF`; nil for any other text,
    /// including lower-case digits, so that the text is restored exactly.
    @inline(__always)
    package init?(uuid text: UnsafeBufferPointer<UInt8>) {
        guard text.count == Self.textCount, let bytes = text.baseAddress,
            bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D, bytes[23] == 0x2D
        else { return nil }
        let raw = UnsafeRawPointer(bytes)
        let (first, second) = (Self.digits(raw), Self.digits(raw + 9, raw + 14))
        let (third, fourth) = (Self.digits(raw + 19, raw + 24), Self.digits(raw + 28))
        if (first.invalid | second.invalid | third.invalid | fourth.invalid) != 0 { return nil }
        high = first.value << 32 | second.value
        low = third.value << 32 | fourth.value
    }

    /// The number for eight upper-case hexadecimal digits; `invalid` is not 0 if they are malformed.
    @inline(__always)
    private static func digits(_ text: UnsafeRawPointer) -> (value: UInt64, invalid: UInt64) {
        digits(UInt64(littleEndian: text.loadUnaligned(as: UInt64.self)))
    }

    /// The same for twice four digits.
    @inline(__always)
    private static func digits(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> (
        value: UInt64, invalid: UInt64
    ) {
        let low = UInt64(UInt32(littleEndian: first.loadUnaligned(as: UInt32.self)))
        let high = UInt64(UInt32(littleEndian: second.loadUnaligned(as: UInt32.self)))
        return digits(high << 32 | low)
    }

    /// Eight digits at a time: the first is in the lowest byte.
    @inline(__always)
    private static func digits(_ text: UInt64) -> (value: UInt64, invalid: UInt64) {
        // Letters have bit 6 set, and their low half is their position in the alphabet, from 1.
        let letters = (text >> 6) & each(1)
        let halves = text & each(0x0F)
        let values = halves &+ letters &* 9
        // The values' own digits have to match the text, and letters are for values from 10 on.
        let expected = values &+ each(0x30) &+ letters &* 7
        let fromTen = ((values &+ each(6)) >> 4) & each(1)
        let invalid = (expected ^ text) | (values & each(0xF0)) | (fromTen ^ letters)
        var value = values.byteSwapped
        value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
        value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
        value = (value | value >> 16) & 0xFFFF_FFFF
        return (value, invalid)
    }

    /// The byte, eight times.
    @inline(__always)
    private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

    /// Writes the 36 characters.
    package func writeUUID(to bytes: UnsafeMutablePointer<UInt8>) {
        let raw = UnsafeMutableRawPointer(bytes)
        let (second, third) = (Self.text(high & 0xFFFF_FFFF), Self.text(low >> 32))
        raw.storeBytes(of: Self.text(high >> 32).littleEndian, as: UInt64.self)
        raw.storeBytes(of: UInt32(truncatingIfNeeded: second).littleEndian, toByteOffset: 9, as: UInt32.self)
        raw.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32).littleEndian, toByteOffset: 14, as: UInt32.self)
        raw.storeBytes(of: UInt32(truncatingIfNeeded: third).littleEndian, toByteOffset: 19, as: UInt32.self)
        raw.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32).littleEndian, toByteOffset: 24, as: UInt32.self)
        raw.storeBytes(of: Self.text(low & 0xFFFF_FFFF).littleEndian, toByteOffset: 28, as: UInt64.self)
        bytes[8] = 0x2D
        bytes[13] = 0x2D
        bytes[18] = 0x2D
        bytes[23] = 0x2D
    }

    /// The eight upper-case digits of a 32-bit number, the first one in the lowest byte.
    @inline(__always)
    private static func text(_ number: UInt64) -> UInt64 {
        var values = number
        values = (values | values << 16) & 0x0000_FFFF_0000_FFFF
        values = (values | values << 8) & 0x00FF_00FF_00FF_00FF
        values = ((values | values << 4) & each(0x0F)).byteSwapped
        let letters = ((values &+ each(6)) >> 4) & each(1)
        return values &+ each(0x30) &+ letters &* 7
    }

    package var uuidString: String {
        String(unsafeUninitializedCapacity: Self.textCount) { buffer in
            if let base = buffer.baseAddress { writeUUID(to: base) }
            return Self.textCount
        }
    }

    /// 128 bits, marked as a UUID of a version and the usual variant.
    package static func uuid(high: UInt64, low: UInt64, version: UInt64) -> PackedKey {
        PackedKey(
            high: high & ~0xF000 | version << 12,
            low: low & ~(3 << 62) | 2 << 62)
    }
}

/// Hashes of keys, with a seed per process: no file can be crafted to have all its keys collide.
package struct KeyHasher {
    package let seed: UInt64

    /// The hasher of a table that was made with a seed.
    package init(seed: UInt64) {
        self.seed = seed
    }

    package init() {
        var generator = SystemRandomNumberGenerator()
        seed = generator.next() | 1
    }

    @inline(__always)
    package func hash(_ key: PackedKey) -> UInt64 {
        let product = (key.high ^ seed).multipliedFullWidth(by: key.low ^ 0x9E37_79B9_7F4A_7C15)
        return (product.high ^ product.low) &* 0x9FB2_1C65_1E98_DF25
    }

    package func hash(text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        Checksum.hash(UnsafeRawBufferPointer(text), seed: seed)
    }

    func hash(integer: Int64) -> UInt64 { hash(PackedKey(high: 1, low: UInt64(bitPattern: integer))) }

    /// That of an integer for an equal number.
    func hash(real: Double) -> UInt64 {
        if let integer = Int64(exactly: real) { return hash(integer: integer) }
        return hash(PackedKey(high: 2, low: real.bitPattern))
    }
}

/// Random numbers from the kernel, fetched in blocks: keys are made in loops, where a system call for each would cost
/// more than the item.
package struct KeySource {
    private var words: [UInt64] = []

    mutating func next() -> UInt64 {
        if let word = words.popLast() { return word }
        // One call returns up to 256 bytes.
        var fresh = [UInt64](repeating: 0, count: 32)
        let failed = fresh.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getentropy($0, bytes.count) } ?? -1
        }
        if failed != 0 {
            var generator = SystemRandomNumberGenerator()
            for index in fresh.indices { fresh[index] = generator.next() }
        }
        words = fresh
        return words.removeLast()
    }

    /// A new random UUID (version 4).
    package mutating func uuid() -> PackedKey {
        .uuid(high: next(), low: next(), version: 4)
    }

    /// A number below `bound`, sufficiently uniform for `randomItem`.
    package mutating func number(below bound: UInt64) -> Int {
        Int(next().multipliedFullWidth(by: bound).high)
    }
}
