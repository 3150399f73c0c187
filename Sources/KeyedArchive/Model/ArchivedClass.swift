/// The archived name of a class and its superclasses.
public struct ArchivedClass: Sendable, Hashable {
    /// The class's name: plain, or `Module.Class`.
    public var name: String
    /// The superclasses, nearest first, `NSObject` last.
    public var superclasses: [String]
    /// Substitutes for readers that do not know the class (`$classhints`).
    public var hints: [String]
    /// Whether the archive lists `$classes`, which it omits for a class that is written under another name.
    public var listsSuperclasses: Bool

    /// - Parameters:
    ///   - name: the name of the class.
    ///   - superclasses: its superclasses up to `NSObject`.
    ///   - hints: substitute names.
    public init(_ name: String, superclasses: [String] = ["NSObject"], hints: [String] = []) {
        self.name = name
        self.superclasses = superclasses
        self.hints = hints
        listsSuperclasses = true
    }

    /// The class and its superclasses, the content of `$classes`.
    package var lineage: [String] { [name] + superclasses }

    static let array = ArchivedClass("NSArray")
    static let mutableArray = ArchivedClass("NSMutableArray", superclasses: ["NSArray", "NSObject"])
    static let dictionary = ArchivedClass("NSDictionary")
    static let mutableDictionary = ArchivedClass("NSMutableDictionary", superclasses: ["NSDictionary", "NSObject"])
    static let set = ArchivedClass("NSSet")
    static let mutableSet = ArchivedClass("NSMutableSet", superclasses: ["NSSet", "NSObject"])
    static let countedSet = ArchivedClass("NSCountedSet", superclasses: ["NSMutableSet", "NSSet", "NSObject"])
    static let orderedSet = ArchivedClass("NSOrderedSet")
    static let mutableOrderedSet = ArchivedClass("NSMutableOrderedSet", superclasses: ["NSOrderedSet", "NSObject"])
    static let mutableString = ArchivedClass("NSMutableString", superclasses: ["NSString", "NSObject"])
    static let mutableData = ArchivedClass("NSMutableData", superclasses: ["NSData", "NSObject"])
    static let date = ArchivedClass("NSDate")
    static let null = ArchivedClass("NSNull")
}
