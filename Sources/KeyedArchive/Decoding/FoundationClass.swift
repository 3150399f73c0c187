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
