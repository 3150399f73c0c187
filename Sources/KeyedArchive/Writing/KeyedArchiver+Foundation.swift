public import PropertyList

extension KeyedArchiver {
    /// Encodes the fields of one of Foundation's value classes into the record.
    func encodeFields(of value: FoundationValue) throws(ArchiveError) {
        switch value {
        case .uuid(let bytes):
            guard bytes.count == 16 else { throw .invalid("a UUID has 16 bytes, not \(bytes.count)") }
            try inline("NS.uuidbytes", .data(bytes))
        case .url(let text, let base):
            let baseUID = try uid(of: base.map { .value($0) })
            try append(table.key("NS.base"), .uid, UInt64(baseUID))
            try append(table.key("NS.relative"), .uid, UInt64(uid(ofString: text)))
        case .point: try special(1, "NS.pointval", LeafText().text(value))
        case .size: try special(2, "NS.sizeval", LeafText().text(value))
        case .rect: try special(3, "NS.rectval", LeafText().text(value))
        case .range(let location, let length):
            try inline("NS.special", .integer(4))
            try append(table.key("NS.rangeval.location"), .uid, UInt64(record.uid(ofLeaf: table.integer(location))))
            try append(table.key("NS.rangeval.length"), .uid, UInt64(record.uid(ofLeaf: table.integer(length))))
        case .edgeInsets(let top, let left, let bottom, let right):
            try inline("NS.special", .integer(12))
            try inline("NS.edgeval.top", .real(top))
            try inline("NS.edgeval.left", .real(left))
            try inline("NS.edgeval.bottom", .real(bottom))
            try inline("NS.edgeval.right", .real(right))
        case .indexSet(let ranges, _): try encode(indexSet: ranges)
        case .indexPath(let indexes): try encode(indexPath: indexes)
        case .timeZone(let name, let data):
            try append(table.key("NS.name"), .uid, UInt64(uid(ofString: name)))
            try leaf("NS.data", data)
        case .locale(let identifier):
            try append(table.key("NS.identifier"), .uid, UInt64(uid(ofString: identifier)))
        case .regularExpression(let pattern, let options):
            try append(table.key("NSPattern"), .uid, UInt64(uid(ofString: pattern)))
            try inline("NSOptions", .integer(options))
        case .affineTransform(let numbers):
            guard numbers.count == 6 else { throw .invalid("an affine transform has 6 numbers") }
            try inline("NSTransformStruct", .data(numbers.flatMap { Self.bytes($0.bitPattern.bigEndian) }))
        case .decimal(let decimal): try encode(decimal)
        }
    }

    private func inline(_ key: String, _ value: PropertyListValue) throws(ArchiveError) {
        let (kind, payload) = try written(.inline(value))
        try append(table.key(key), kind, payload)
    }

    private func special(_ kind: Int64, _ key: String, _ text: String) throws(ArchiveError) {
        try inline("NS.special", .integer(kind))
        try append(table.key(key), .uid, UInt64(uid(ofString: text)))
    }

    private func encode(indexSet ranges: [Range<Int64>]) throws(ArchiveError) {
        try inline("NSRangeCount", .integer(Int64(ranges.count)))
        guard let first = ranges.first else { return }
        if ranges.count == 1 {
            try inline("NSLocation", .integer(first.lowerBound))
            try inline("NSLength", .integer(first.upperBound - first.lowerBound))
            return
        }
        var bytes: [UInt8] = []
        for range in ranges {
            Varint.append(UInt64(bitPattern: range.lowerBound), to: &bytes)
            Varint.append(UInt64(bitPattern: range.upperBound - range.lowerBound), to: &bytes)
        }
        try leaf("NSRangeData", bytes)
    }

    private func encode(indexPath indexes: [Int64]) throws(ArchiveError) {
        try inline("NSIndexPathLength", .integer(Int64(indexes.count)))
        if indexes.count == 1 { try inline("NSIndexPathValue", .integer(indexes[0])) }
        guard indexes.count > 1 else { return }
        var bytes: [UInt8] = []
        for index in indexes { Varint.append(UInt64(bitPattern: index), to: &bytes) }
        try leaf("NSIndexPathData", bytes)
    }

    private func encode(_ decimal: ArchivedDecimal) throws(ArchiveError) {
        var units: [UInt8] = []
        var rest = decimal.isNaN ? 0 : decimal.mantissa
        var length = 0
        for index in 0..<8 {
            let unit = UInt16(truncatingIfNeeded: rest)
            if unit != 0 { length = index + 1 }
            units.append(contentsOf: Self.bytes(unit.littleEndian))
            rest >>= 16
        }
        try inline("NS.exponent", .integer(Int64(decimal.isNaN ? 0 : decimal.exponent)))
        try inline("NS.length", .integer(Int64(length)))
        try inline("NS.negative", .boolean(decimal.isNaN || decimal.isNegative && decimal.mantissa != 0))
        try inline("NS.compact", .boolean(true))
        try inline("NS.mantissa.bo", .integer(1))
        try inline("NS.mantissa", .data(units))
    }

    private func leaf(_ key: String, _ bytes: [UInt8]) throws(ArchiveError) {
        try append(table.key(key), .uid, UInt64(record.uid(ofLeaf: table.data(bytes))))
    }

    /// A number in Foundation's text of a point: without a fraction when it is integral.
    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}

extension KeyedArchiver {
    /// An archive of one object, under the key `root`.
    package static func archivedData(
        withRootObject root: ArchiveValue?, requiringSecureCoding: Bool = false, format: PropertyListFormat = .binary
    ) throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver(requiresSecureCoding: requiringSecureCoding)
        archiver.outputFormat = format
        try archiver.encode(root, forKey: rootKey)
        return try archiver.finishEncoding()
    }

    /// An archive of one object of the program, under the key `root`.
    public static func archivedData(
        withRootObject root: any KeyedEncodable, requiringSecureCoding: Bool = false,
        format: PropertyListFormat = .binary
    ) throws(ArchiveError) -> [UInt8] {
        try archivedData(
            withRootObject: .object(root), requiringSecureCoding: requiringSecureCoding, format: format)
    }
}

extension KeyedUnarchiver {
    /// Decodes the root object of a Swift class, with secure coding: only the class, the classes that it allows, and
    /// property-list objects are decoded.
    ///
    /// - Returns: the object, or nil when the root is nil.
    public static func unarchivedObject<Object: KeyedCoding>(
        of type: Object.Type, from bytes: [UInt8], limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) -> Object? {
        let unarchiver = try KeyedUnarchiver(
            bytes, classes: [type], requiresSecureCoding: true, limits: limits)
        return try unarchiver.decodeObject(of: type, forKey: KeyedArchiver.rootKey)
    }

    /// Decodes the root object if it and everything below it are of these classes.
    ///
    /// - Parameters:
    ///   - allowed: the names of the classes.
    ///   - classes: the Swift classes among them.
    ///   - bytes: the archive.
    ///   - limits: the limits.
    /// - Returns: the object, or nil when the root is nil.
    /// - Throws: `readCorrupt` for an object of another class.
    package static func unarchivedObject(
        ofClasses allowed: AllowedClasses, classes: [any KeyedCoding.Type] = [], from bytes: [UInt8],
        limits: ArchiveLimits = .standard
    ) throws(ArchiveError) -> ArchiveValue? {
        let unarchiver = try KeyedUnarchiver(
            bytes, classes: classes, requiresSecureCoding: true, limits: limits)
        return try unarchiver.decodeRootObject(ofClasses: allowed)
    }
}
