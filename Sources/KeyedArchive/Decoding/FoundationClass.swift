import PropertyList

/// The classes of Foundation that are decoded to Swift values.
enum FoundationClass: String, CaseIterable {
    case array = "NSArray"
    case mutableArray = "NSMutableArray"
    case set = "NSSet"
    case mutableSet = "NSMutableSet"
    case orderedSet = "NSOrderedSet"
    case mutableOrderedSet = "NSMutableOrderedSet"
    case countedSet = "NSCountedSet"
    case dictionary = "NSDictionary"
    case mutableDictionary = "NSMutableDictionary"
    case string = "NSString"
    case mutableString = "NSMutableString"
    case number = "NSNumber"
    case data = "NSData"
    case mutableData = "NSMutableData"
    case date = "NSDate"
    case null = "NSNull"
    case uuid = "NSUUID"
    case url = "NSURL"
    case value = "NSValue"
    case indexSet = "NSIndexSet"
    case mutableIndexSet = "NSMutableIndexSet"
    case indexPath = "NSIndexPath"
    case timeZone = "NSTimeZone"
    case locale = "NSLocale"
    case regularExpression = "NSRegularExpression"
    case affineTransform = "NSAffineTransform"
    case decimalNumber = "NSDecimalNumber"
    case decimalPlaceholder = "NSDecimalNumberPlaceholder"

    init?(name: String) {
        self.init(exactly: name)
    }

    /// The class and its superclasses. They are built in, because an archive's list is not trusted.
    var archivedClass: ArchivedClass {
        switch self {
        case .mutableArray: .mutableArray
        case .mutableSet: .mutableSet
        case .countedSet: .countedSet
        case .mutableOrderedSet: .mutableOrderedSet
        case .mutableDictionary: .mutableDictionary
        case .mutableString: .mutableString
        case .mutableData: .mutableData
        case .number: ArchivedClass(rawValue, superclasses: ["NSValue", "NSObject"])
        case .mutableIndexSet: ArchivedClass(rawValue, superclasses: ["NSIndexSet", "NSObject"])
        case .decimalNumber, .decimalPlaceholder:
            ArchivedClass("NSDecimalNumber", superclasses: ["NSNumber", "NSValue", "NSObject"])
        default: ArchivedClass(rawValue)
        }
    }

    /// The keys of a wrapper's leaf, the usual one first; some writers use others.
    var leafKeys: [StaticString] {
        switch self {
        case .string, .mutableString: ["NS.string", "NS.bytes"]
        case .data, .mutableData: ["NS.data", "NS.bytes"]
        case .number: ["NS.number", "NS.boolval", "NS.intval", "NS.dblval"]
        case .date: ["NS.time"]
        default: []
        }
    }
}

extension ArchivedClass {
    /// The nearest class of Foundation in the lineage.
    var foundationClass: FoundationClass? {
        FoundationClass(name: name) ?? superclasses.lazy.compactMap { FoundationClass(name: $0) }.first
    }
}

extension FoundationClass {
    /// The slots of a record that its class does not read: fields that another program or another version added.
    ///
    /// What the class reads is shown as its value, its elements or its entries, so these and that are all of the record.
    func otherSlots(of record: ArchiveRecord) -> [Int] {
        let used = usedSlots(of: record)
        let shape = record.shape
        guard used.count < shape.keys.count else { return [] }
        return shape.storedKeys.indices.filter { $0 != shape.classSlot && !used.contains($0) }
    }

    /// The slots that the class reads.
    private func usedSlots(of record: ArchiveRecord) -> Set<Int> {
        var slots: Set<Int> = []
        func use(_ keys: [String]) { slots.formUnion(keys.compactMap(record.shape.slot(of:))) }
        switch self {
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet:
            if record.containsValue(forKey: "NS.objects") {
                use(["NS.objects"])
            } else {
                slots.formUnion(Self.numberedSlots(record, Self.elementPrefixes))
            }
        case .countedSet:
            let elements = Self.numberedSlots(record, Self.elementPrefixes)
            slots.formUnion(elements)
            for index in elements.indices { use(["NS.count\(index)"]) }
            // The number of elements; another number is shown.
            if let slot = record.shape.slot(of: "NS.count"),
                Self.isInline(.integer(Int64(elements.count)), slot, record)
            {
                slots.insert(slot)
            }
        case .dictionary, .mutableDictionary:
            use(["NS.keys", "NS.objects"])
            if slots.isEmpty {
                slots.formUnion(Self.numberedSlots(record, ["NS.key."]))
                slots.formUnion(Self.numberedSlots(record, ["NS.object."]))
            }
        case .string, .mutableString, .data, .mutableData, .number, .date:
            for key in leafKeys {
                use(["\(key)"])
                if !slots.isEmpty { break }
            }
        case .null: break
        case .uuid: use(["NS.uuidbytes"])
        case .url: use(["NS.base", "NS.relative"])
        case .value: use(Self.valueKeys(of: record))
        case .indexSet, .mutableIndexSet:
            switch try? record.decodeInteger(forKey: "NSRangeCount") {
            case 0: use(["NSRangeCount"])
            case 1: use(["NSRangeCount", "NSLocation", "NSLength"])
            default: use(["NSRangeCount", "NSRangeData"])
            }
        case .indexPath:
            switch try? record.decodeInteger(forKey: "NSIndexPathLength") {
            case 0: use(["NSIndexPathLength"])
            case 1: use(["NSIndexPathLength", "NSIndexPathValue"])
            default: use(["NSIndexPathLength", "NSIndexPathData"])
            }
        case .timeZone: use(["NS.name", "NS.data"])
        case .locale: use(["NS.identifier"])
        case .regularExpression: use(["NSPattern", "NSOptions"])
        case .affineTransform: use(["NSTransformStruct"])
        case .decimalNumber, .decimalPlaceholder:
            use(["NS.exponent", "NS.length", "NS.negative", "NS.mantissa.bo", "NS.mantissa"])
            // Its digits are always compact.
            if let slot = record.shape.slot(of: "NS.compact"), Self.isInline(.boolean(true), slot, record) {
                slots.insert(slot)
            }
        }
        return slots
    }

    /// The keys of an NSValue, by its kind.
    private static func valueKeys(of record: ArchiveRecord) -> [String] {
        let kind =
            switch try? record.decodeInteger(forKey: "NS.special") {
            case 1: ["NS.pointval"]
            case 2: ["NS.sizeval"]
            case 3: ["NS.rectval"]
            case 4: ["NS.rangeval.location", "NS.rangeval.length"]
            case 12: ["NS.edgeval.top", "NS.edgeval.left", "NS.edgeval.bottom", "NS.edgeval.right"]
            default: [String]()
            }
        return ["NS.special"] + kind
    }

    /// The prefixes of the keys of numbered elements; those of a counted set have no point.
    static let elementPrefixes = ["NS.object.", "NS.object"]

    /// The slots under numbered keys, from 0 on, with the first of the prefixes that a key has.
    static func numberedSlots(_ record: ArchiveRecord, _ prefixes: [String]) -> [Int] {
        for prefix in prefixes {
            var slots: [Int] = []
            while let slot = record.shape.slot(of: "\(prefix)\(slots.count)") { slots.append(slot) }
            if !slots.isEmpty { return slots }
        }
        return []
    }

    /// Whether a slot has this number inline.
    static func isInline(_ number: BinaryPropertyListReader.Number, _ slot: Int, _ record: ArchiveRecord) -> Bool {
        (try? record.reader.propertyList.number(at: record.number(at: slot))) == number
    }
}
