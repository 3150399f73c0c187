/// The name under which instances are archived, and what stands above it.
public struct ArchivedClass: Sendable, Hashable {
    /// The class's name: plain, or `Module.Class`.
    public var name: String
    /// The names above it, nearest first, `NSObject` last.
    public var superclasses: [String]
    /// Names that a reader may try when it does not know the class (`$classhints`).
    public var hints: [String]
    /// Whether the archive lists `$classes`. It does not for a class that is written under another class's name.
    public var listsSuperclasses: Bool

    /// - Parameters:
    ///   - name: the name of the class.
    ///   - superclasses: the names above it up to `NSObject`.
    ///   - hints: names to fall back on.
    public init(_ name: String, superclasses: [String] = ["NSObject"], hints: [String] = []) {
        self.name = name
        self.superclasses = superclasses
        self.hints = hints
        listsSuperclasses = true
    }

    /// The class, then everything above it: what `$classes` lists.
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
