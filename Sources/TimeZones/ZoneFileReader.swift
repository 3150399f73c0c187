import PropertyList

/// Reads compiled time zones: TZif of RFC 8536, versions 1 to 4.
///
/// Foundation's zones have their own database, 41 MB, which is not updated with the system's, and are absent from a
/// statically linked program; the C library supports one zone for the whole process.
struct ZoneFileReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The zone in a file; nil if it is damaged, or counts leap seconds, which Unix time does not.
    static func zone(named name: String, _ bytes: [UInt8]) -> Zone? {
        var reader = ZoneFileReader(bytes: bytes)
        return reader.zone(named: name)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The counts of a header.
    private struct Header {
        var version: UInt8
        var universal = 0
        var standard = 0
        var leaps = 0
        var times = 0
        var types = 0
        var letters = 0

        /// The size of the header's data in bytes.
        func size(time: Int) -> Int {
            times * (time + 1) + types * 6 + letters + leaps * (time + 4) + standard + universal
        }
    }

    private mutating func zone(named name: String) -> Zone? {
        guard var header = header() else { return nil }
        var width = 4
        if header.version >= UInt8(ascii: "2") {
            // The first data block is for readers of version 1.
            guard skip(header.size(time: 4)), let second = self.header() else { return nil }
            header = second
            width = 8
        }
        guard header.leaps == 0, (1...256).contains(header.types), bytes.count - position >= header.size(time: width)
        else { return nil }
        let times = (0..<header.times).map { _ in integer(width) }
        let kinds = (0..<header.times).map { _ in Int(byte()) }
        guard zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }), kinds.allSatisfy({ $0 < header.types })
        else { return nil }
        let types = (0..<header.types).map { _ in (seconds: integer(4), isDaylight: byte(), name: Int(byte())) }
        let letters = bytes[position..<position + header.letters]
        position += header.size(time: width) - header.times * (width + 1) - header.types * 6
        var offsets: [UTCOffset] = []
        for type in types {
            // The bounds of the RFC.
            guard (-89_999...93_599).contains(type.seconds), type.isDaylight < 2, type.name < header.letters
            else { return nil }
            let abbreviation = letters.dropFirst(type.name).prefix { $0 != 0 && (0x20...0x7E).contains($0) }
            offsets.append(
                UTCOffset(
                    seconds: Int(type.seconds), abbreviation: String(decoding: abbreviation, as: UTF8.self),
                    isDaylight: type.isDaylight == 1))
        }
        var rule: ZoneRule?
        if width == 8 {
            guard let text = footer() else { return nil }
            rule = ZoneRuleParser.parse(text)
            if rule == nil, !text.isEmpty { return nil }
        }
        return Zone(
            name: name, transitions: times, offsets: [offsets[0]] + kinds.map { offsets[$0] }, rule: rule)
    }

    private mutating func header() -> Header? {
        guard bytes.count - position >= 44, bytes[position...].starts(with: "TZif".utf8) else { return nil }
        var header = Header(version: bytes[position + 4])
        position += 20
        // Counts have four bytes each: no sum of their products overflows.
        for count in [\Header.universal, \.standard, \.leaps, \.times, \.types, \.letters] {
            header[keyPath: count] = Int(integer(4) & 0xFFFF_FFFF)
        }
        return header
    }

    private mutating func skip(_ count: Int) -> Bool {
        guard bytes.count - position >= count else { return false }
        position += count
        return true
    }

    private mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    /// A signed big-endian integer of 4 or 8 bytes.
    private mutating func integer(_ width: Int) -> Int64 {
        defer { position += width }
        let value = bytes[position..<position + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }

    /// The rule between two line breaks; empty if there is none.
    private func footer() -> String? {
        guard position < bytes.count, bytes[position] == 0x0A,
            let end = bytes[(position + 1)...].firstIndex(of: 0x0A)
        else { return nil }
        return String(decoding: bytes[position + 1..<end], as: UTF8.self)
    }
}
