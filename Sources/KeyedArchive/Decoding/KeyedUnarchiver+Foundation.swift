import PropertyList

extension KeyedUnarchiver {
    /// Decodes an instance of one of Foundation's classes; nil for a form without a Swift value, which stays an object.
    func decode(_ record: ArchiveRecord, as builtin: FoundationClass) throws(ArchiveError) -> ArchiveValue? {
        switch builtin {
        case .array, .mutableArray: return collection(.array, builtin == .mutableArray, record)
        case .set, .mutableSet: return collection(.set, builtin == .mutableSet, record)
        case .orderedSet, .mutableOrderedSet: return collection(.orderedSet, builtin == .mutableOrderedSet, record)
        case .countedSet: return collection(.countedSet, true, record)
        case .dictionary, .mutableDictionary:
            return leave(.dictionary(ArchivedDictionary(isMutable: builtin == .mutableDictionary)), for: record)
        case .string: return .string(try text(of: record))
        case .mutableString: return .mutableString(ArchivedMutableString(try text(of: record)))
        case .number: return ArchiveValue(leaf: PropertyListValue(try number(of: record)))
        case .data: return .data(try bytes(of: record))
        case .mutableData: return .mutableData(ArchivedMutableData(try bytes(of: record)))
        case .date:
            let seconds = try real("NS.time", of: record)
            return .date(PropertyListDate(secondsSinceReferenceDate: seconds))
        case .null: return .null
        case .uuid:
            let bytes = try bytes("NS.uuidbytes", of: record)
            guard bytes.count == 16 else { throw invalid(record, "it has \(bytes.count) bytes and not 16") }
            return .value(.uuid(bytes))
        case .url: return try url(record, depth: 0).map { .value($0) }
        case .value: return try value(record).map { .value($0) }
        case .indexSet, .mutableIndexSet:
            return .value(.indexSet(try indexSet(record), isMutable: builtin == .mutableIndexSet))
        case .indexPath: return .value(.indexPath(try indexPath(record)))
        case .timeZone:
            let data = record.containsValue(forKey: "NS.data") ? try record.decodeData(forKey: "NS.data") : nil
            return .value(.timeZone(name: try text("NS.name", of: record), data: data ?? []))
        case .locale: return .value(.locale(try text("NS.identifier", of: record)))
        case .regularExpression:
            let options = try record.decodeInteger(forKey: "NSOptions") ?? 0
            return .value(.regularExpression(pattern: try text("NSPattern", of: record), options: options))
        case .affineTransform: return .value(.affineTransform(try affineTransform(record)))
        case .decimalNumber, .decimalPlaceholder: return .value(.decimal(try decimal(record)))
        }
    }

    /// Whether encoding restores the instance's class and keys.
    func holdsItsForm(_ record: ArchiveRecord, _ archived: ArchivedClass, _ builtin: FoundationClass) -> Bool {
        guard archived == builtin.archivedClass else { return false }
        switch builtin {
        case .array, .mutableArray, .set, .mutableSet:
            return record.keys == ["NS.objects"] && countOfReferences("NS.objects", of: record) != nil
        case .dictionary, .mutableDictionary:
            guard record.keys.sorted() == ["NS.keys", "NS.objects"],
                let count = countOfReferences("NS.keys", of: record)
            else { return false }
            return countOfReferences("NS.objects", of: record) == count
        case .orderedSet, .mutableOrderedSet:
            return !record.containsValue(forKey: "NS.objects") && builtin.otherSlots(of: record).isEmpty
        case .countedSet: return holdsItsCounts(record) && builtin.otherSlots(of: record).isEmpty
        case .null: return record.keys.isEmpty
        case .date: return record.keys == ["NS.time"] && holds(.real, under: "NS.time", record)
        case .mutableString:
            return record.keys == ["NS.string"] && holds(.string, under: "NS.string", record)
                && !hasHalfPair("NS.string", of: record)
        case .mutableData: return record.keys == ["NS.data"] && holds(.data, under: "NS.data", record)
        default: return false
        }
    }

    /// The number of references in a list of a collection; nil for something else.
    private func countOfReferences(_ key: String, of record: ArchiveRecord) -> Int? {
        guard let slot = record.shape.slot(of: key), let list = try? record.references(at: slot),
            (0..<list.count).allSatisfy({ (try? reader.propertyList.kind(of: list.number(at: $0))) == .uid })
        else { return nil }
        return list.count
    }

    /// Whether a counted set has a number of elements, and an inline integer as the count of each.
    private func holdsItsCounts(_ record: ArchiveRecord) -> Bool {
        guard record.containsValue(forKey: "NS.count") else { return false }
        let elements = FoundationClass.numberedSlots(record, ["NS.object"])
        return elements.indices.allSatisfy { index in
            guard let slot = record.shape.slot(of: "NS.count\(index)"),
                case .integer(let count)? = try? reader.propertyList.number(at: record.number(at: slot))
            else { return false }
            return count >= 0 && Int(exactly: count) != nil
        }
    }

    /// Whether a key has an inline value of a kind, which is not a four-byte real.
    private func holds(_ kind: BinaryPropertyListReader.Kind, under key: String, _ record: ArchiveRecord) -> Bool {
        guard let slot = record.shape.slot(of: key) else { return false }
        let number = record.number(at: slot)
        if kind == .real, case .single? = try? reader.propertyList.number(at: number) { return false }
        return (try? reader.propertyList.kind(of: number)) == kind
    }

    /// Whether the text of a key is not Unicode; a mutable string has no units.
    private func hasHalfPair(_ key: String, of record: ArchiveRecord) -> Bool {
        guard let slot = record.shape.slot(of: key) else { return false }
        if case .string? = try? reader.propertyList.text(at: record.number(at: slot)) { return false }
        return true
    }

    /// The text of a string object. Some writers store it as bytes.
    private func text(of record: ArchiveRecord) throws(ArchiveError) -> String {
        guard !record.containsValue(forKey: "NS.string"), record.containsValue(forKey: "NS.bytes") else {
            return try text("NS.string", of: record)
        }
        guard let text = String(validating: try bytes("NS.bytes", of: record), as: UTF8.self) else {
            throw invalid(record, "its NS.bytes are not UTF-8")
        }
        return text
    }

    /// The bytes of a data object.
    private func bytes(of record: ArchiveRecord) throws(ArchiveError) -> [UInt8] {
        let isOther = !record.containsValue(forKey: "NS.data") && record.containsValue(forKey: "NS.bytes")
        return try bytes(isOther ? "NS.bytes" : "NS.data", of: record)
    }

    /// A number object without a leaf.
    private func number(of record: ArchiveRecord) throws(ArchiveError) -> BinaryPropertyListReader.Number {
        let number = try lifted { () throws(PropertyListError) in try reader.table.number(at: record.number) }
        if let number { return number }
        throw invalid(record, "it has no value")
    }

    private func collection(
        _ kind: ArchivedCollection.Kind, _ isMutable: Bool, _ record: ArchiveRecord
    ) -> ArchiveValue {
        leave(.collection(ArchivedCollection(kind, isMutable: isMutable)), for: record)
    }

    func invalid(_ record: ArchiveRecord, _ reason: String) -> ArchiveError {
        let name = (try? record.className()) ?? "a class"
        return .corrupt("an instance of \(name) cannot be decoded: \(reason) (object \(record.uid))")
    }

    private func text(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> String {
        if let value = try shared(key, of: record), case .string(let text) = value, text != "$null" { return text }
        guard let text = try record.decodeString(forKey: key) else { throw invalid(record, "it has no \(key)") }
        return text
    }

    private func bytes(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> [UInt8] {
        if let value = try shared(key, of: record), case .data(let bytes) = value { return bytes }
        guard let bytes = try record.decodeData(forKey: key) else { throw invalid(record, "it has no \(key)") }
        return bytes
    }

    /// A string or data that instances may share; nil when it needs the general path.
    private func shared(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> PropertyListValue? {
        guard let slot = record.shape.slot(of: key), let number = try record.leaf(at: slot) else { return nil }
        switch try reader.propertyList.kind(in: number) {
        case .string, .data: return try objects.sharedValue(number)
        default: return nil
        }
    }

    private func integer(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> Int64 {
        guard let value = try record.decodeInteger(forKey: key) else { throw invalid(record, "it has no \(key)") }
        return value
    }

    private func real(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> Double {
        guard let value = try record.decodeDouble(forKey: key) else { throw invalid(record, "it has no \(key)") }
        return value
    }

    /// Nil for a URL with more than its text, such as a file's bookmark, which stays an object.
    private func url(_ record: ArchiveRecord, depth: Int) throws(ArchiveError) -> FoundationValue? {
        guard depth < 16 else { throw invalid(record, "its bases nest too deep") }
        guard record.keys.allSatisfy({ $0 == "NS.base" || $0 == "NS.relative" }) else { return nil }
        let relative = try text("NS.relative", of: record)
        guard let base = try record.reference(forKey: "NS.base"), try !reader.isNil(base) else {
            return .url(relative, base: nil)
        }
        guard let inner = try reader.record(at: base), try inner.className() == "NSURL" else {
            throw invalid(record, "its base is not an NSURL")
        }
        return try url(inner, depth: depth + 1).map { .url(relative, base: $0) }
    }

    private func value(_ record: ArchiveRecord) throws(ArchiveError) -> FoundationValue? {
        // A value of another C type has its type and its value without keys.
        if record.shape.slot(ofStored: "$0") != nil, !record.containsValue(forKey: "NS.special") { return nil }
        switch try integer("NS.special", of: record) {
        case 1:
            let numbers = try numbers(2, "NS.pointval", of: record)
            return .point(x: numbers[0], y: numbers[1])
        case 2:
            let numbers = try numbers(2, "NS.sizeval", of: record)
            return .size(width: numbers[0], height: numbers[1])
        case 3:
            let numbers = try numbers(4, "NS.rectval", of: record)
            return .rect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        case 4:
            return .range(
                location: try integer("NS.rangeval.location", of: record),
                length: try integer("NS.rangeval.length", of: record))
        case 12:
            return .edgeInsets(
                top: try real("NS.edgeval.top", of: record), left: try real("NS.edgeval.left", of: record),
                bottom: try real("NS.edgeval.bottom", of: record), right: try real("NS.edgeval.right", of: record))
        // Kinds of other systems stay objects.
        default: return nil
        }
    }

    /// Parses the numbers of a text such as `{{400, 300}, {200, 300}}`.
    private func numbers(
        _ count: Int, _ key: String, of record: ArchiveRecord
    ) throws(ArchiveError) -> [Double] {
        let text = try text(key, of: record)
        let parts = text.split { $0.is("{") || $0.is("}") || $0.is(",") || $0.is(" ") }
        let numbers = parts.compactMap { Double($0) }
        guard numbers.count == count, parts.count == count else {
            throw invalid(record, "“\(text.prefix(60))” has not the form of \(key)")
        }
        return numbers
    }

    private func varints(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> [Int64] {
        guard let numbers = Varint.numbers(in: try bytes(key, of: record)) else {
            throw invalid(record, "a number runs past the end of its data")
        }
        return numbers.map { Int64(bitPattern: $0) }
    }

    private func indexSet(_ record: ArchiveRecord) throws(ArchiveError) -> [Range<Int64>] {
        let count = try integer("NSRangeCount", of: record)
        var pairs: [Int64]
        switch count {
        case 0: pairs = []
        case 1: pairs = [try integer("NSLocation", of: record), try integer("NSLength", of: record)]
        default: pairs = try varints("NSRangeData", of: record)
        }
        guard count >= 0, pairs.count / 2 == Int(count), pairs.count % 2 == 0 else {
            throw invalid(record, "its ranges don't match their count of \(count)")
        }
        var ranges: [Range<Int64>] = []
        for index in stride(from: 0, to: pairs.count, by: 2) {
            let (end, overflow) = pairs[index].addingReportingOverflow(pairs[index + 1])
            guard !overflow, pairs[index] >= 0, pairs[index + 1] > 0, pairs[index] >= ranges.last?.upperBound ?? 0
            else { throw invalid(record, "its ranges are not in order") }
            ranges.append(pairs[index]..<end)
        }
        return ranges
    }

    private func indexPath(_ record: ArchiveRecord) throws(ArchiveError) -> [Int64] {
        let length = try integer("NSIndexPathLength", of: record)
        switch length {
        case 0: return []
        case 1: return [try integer("NSIndexPathValue", of: record)]
        default:
            let indexes = try varints("NSIndexPathData", of: record)
            guard indexes.count == Int(length) else { throw invalid(record, "its indexes don't match their count") }
            return indexes
        }
    }

    private func affineTransform(_ record: ArchiveRecord) throws(ArchiveError) -> [Float] {
        let bytes = try bytes("NSTransformStruct", of: record)
        guard bytes.count == 24 else { throw invalid(record, "it has \(bytes.count) bytes and not 24") }
        return stride(from: 0, to: 24, by: 4).map { start in
            Float(bitPattern: bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
    }

    private func decimal(_ record: ArchiveRecord) throws(ArchiveError) -> ArchivedDecimal {
        let length = try integer("NS.length", of: record)
        let isNegative = try record.decodeBool(forKey: "NS.negative") ?? false
        if length == 0, isNegative { return .nan }
        let bytes = try bytes("NS.mantissa", of: record)
        let exponent = try integer("NS.exponent", of: record)
        // The writer's byte order: 1 is little endian, 2 is big endian.
        let isBig = try record.decodeInteger(forKey: "NS.mantissa.bo") == 2
        guard
            let decimal = ArchivedDecimal(
                units: bytes, length: length, exponent: exponent, isNegative: isNegative, isBigEndian: isBig)
        else { throw invalid(record, "its digits or its exponent are out of range") }
        return decimal
    }
}
