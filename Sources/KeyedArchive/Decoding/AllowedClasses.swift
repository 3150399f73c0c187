import PropertyList

/// The classes that the current decoding call allows, and the objects of other calls that this one reuses.
struct ClassChecks {
    /// The allowed classes; nil for all.
    var allowed: AllowedClasses?
    /// Objects of other calls, to be checked against this call's list when they are complete.
    private var rechecks: [Recheck] = []
    /// Rechecks that met an incomplete object.
    private var unfinishedRechecks: [Recheck] = []
    /// The collections being filled while objects of the program are decoded for them.
    private var filling: Set<ObjectIdentifier> = []
    /// The objects that have passed a list, by list.
    private var passed: [AllowedClasses: Set<ObjectIdentifier>] = [:]

    /// An object that another call decoded, and the classes that this call allows.
    private struct Recheck {
        let value: ArchiveValue
        let allowed: AllowedClasses
    }

    /// Records that a collection is incomplete.
    mutating func beginFilling(_ collection: ObjectIdentifier) {
        if allowed != nil { filling.insert(collection) }
    }

    mutating func endFilling(_ collection: ObjectIdentifier) { filling.remove(collection) }

    /// Releases the objects.
    mutating func removeAll() {
        rechecks = []
        unfinishedRechecks = []
        passed = [:]
    }

    func check(_ archivedClass: ArchivedClass) throws(ArchiveError) {
        guard let allowed, !allowed.allow(archivedClass) else { return }
        throw Self.notAllowed(archivedClass, allowed)
    }

    private static func notAllowed(_ archivedClass: ArchivedClass, _ allowed: AllowedClasses) -> ArchiveError {
        .corrupt(
            "the class \(archivedClass.name) is not among those allowed here: "
                + allowed.names.sorted().joined(separator: ", "))
    }

    /// Checks an object of another call against this call's list, with everything below it.
    mutating func checkAgain(_ value: ArchiveValue) throws(ArchiveError) {
        guard let allowed else { return }
        try check(value, allowed)
        // Its contents may be incomplete.
        switch value {
        case .collection, .dictionary, .unknown: rechecks.append(Recheck(value: value, allowed: allowed))
        default: break
        }
    }

    /// Checks reused objects against the lists of the calls that reused them. Objects that lead to an incomplete
    /// collection are checked again after its completion.
    mutating func recheck() throws(ArchiveError) {
        var open = rechecks
        rechecks = []
        if filling.isEmpty {
            open += unfinishedRechecks
            unfinishedRechecks = []
        }
        for recheck in open where try !isWholeAndAllowed(recheck) { unfinishedRechecks.append(recheck) }
    }

    /// - Returns: false when an object on the way is incomplete.
    private mutating func isWholeAndAllowed(_ recheck: Recheck) throws(ArchiveError) -> Bool {
        var seen = passed[recheck.allowed] ?? []
        var pending = [recheck.value]
        var isWhole = true
        passed[recheck.allowed] = nil
        while let value = pending.popLast() {
            try check(value, recheck.allowed)
            guard let identity = value.identity, seen.insert(ObjectIdentifier(identity)).inserted else { continue }
            if filling.contains(ObjectIdentifier(identity)) { isWhole = false }
            value.forEachReference { if let value = $0 { pending.append(value) } }
        }
        // An object that leads to an incomplete one has not passed.
        if isWhole { passed[recheck.allowed] = seen }
        return isWhole
    }

    private func check(_ value: ArchiveValue, _ allowed: AllowedClasses) throws(ArchiveError) {
        let archivedClass: ArchivedClass
        switch value {
        case .object(let object): archivedClass = object.classForKeyedArchiver
        case .unknown(let object): archivedClass = object.archivedClass
        case .string, .boolean, .integer, .wideInteger, .real, .single, .data: return
        default:
            guard let builtin = FoundationClass(name: value.className) else { return }
            archivedClass = builtin.archivedClass
        }
        guard allowed.allow(archivedClass) else { throw Self.notAllowed(archivedClass, allowed) }
    }
}

/// The classes that a decoding call accepts, by name, with their subclasses.
package struct AllowedClasses: Sendable, Hashable {
    /// The names of the classes.
    package var names: Set<String> { Set(exact) }

    private let exact: NameSet

    /// The classes of property list objects.
    package static let propertyList = AllowedClasses(unchecked: [
        "NSString", "NSNumber", "NSData", "NSDate", "NSArray", "NSDictionary",
    ])

    private init(unchecked names: NameSet) { exact = names }

    /// - Throws: `readCorrupt` for `NSObject`, which would allow every class.
    package init(_ names: some Sequence<String>) throws(ArchiveError) {
        let names = NameSet(names)
        guard !names.contains("NSObject") else {
            throw .corrupt("allowing NSObject would allow every class; name the classes that are expected")
        }
        exact = names
    }

    /// Whether a class is one of these itself.
    func contains(_ name: String) -> Bool { exact.contains(name) }

    /// These classes and others.
    func union(_ other: AllowedClasses) -> AllowedClasses { AllowedClasses(unchecked: exact.union(other.exact)) }

    /// Whether a class is one of these or below one.
    func allow(_ archivedClass: ArchivedClass) -> Bool {
        contains(archivedClass.name) || archivedClass.superclasses.contains { contains($0) }
    }
}

/// Makes instances of a class from an archive. The binding of a Swift class uses `KeyedCoding`; a class made at run
/// time has its own functions.
package struct ArchiveClassBinding {
    /// The class and its superclasses; allow-lists are checked against these names.
    package var archivedClass: ArchivedClass
    /// Whether the class supports secure coding.
    package var supportsSecureCoding: Bool
    /// Makes an empty instance, which is registered before its contents are decoded, so that cycles work; nil for a
    /// class that only `initialize` makes.
    let allocate: (() throws(ArchiveError) -> any KeyedEncodable)?
    /// Decodes the contents, into the empty instance if there is one, and returns the object.
    let initialize: (KeyedUnarchiver, (any KeyedEncodable)?) throws(ArchiveError) -> any KeyedEncodable

    /// The binding of a class made at run time.
    ///
    /// - Parameters:
    ///   - archivedClass: its name and its superclasses.
    ///   - supportsSecureCoding: whether it supports secure coding.
    ///   - allocate: makes an empty instance.
    ///   - initialize: decodes its contents.
    package init<Object: KeyedEncodable>(
        _ archivedClass: ArchivedClass, supportsSecureCoding: Bool = false,
        allocate: @escaping () throws(ArchiveError) -> Object,
        initialize: @escaping (Object, KeyedUnarchiver) throws(ArchiveError) -> Void
    ) {
        self.archivedClass = archivedClass
        self.supportsSecureCoding = supportsSecureCoding
        self.allocate = { () throws(ArchiveError) -> any KeyedEncodable in try allocate() }
        self.initialize = { (coder, empty) throws(ArchiveError) -> any KeyedEncodable in
            guard let object = empty as? Object else {
                throw .corrupt("an instance of \(archivedClass.name) could not be made")
            }
            try initialize(object, coder)
            return object
        }
    }

    /// The binding of a Swift class.
    package init(_ type: any KeyedCoding.Type) {
        archivedClass = type.archivedClass
        supportsSecureCoding = type.supportsSecureCoding
        allocate = nil
        initialize = { (coder, _) throws(ArchiveError) -> any KeyedEncodable in try type.init(coder: coder) }
    }
}

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
