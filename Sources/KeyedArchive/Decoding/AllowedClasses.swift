/// The classes that a decoding call accepts, by name, with their subclasses.
public struct AllowedClasses: Sendable, Hashable {
    /// The names of the classes.
    public var names: Set<String> { Set(exact) }

    private let exact: NameSet

    /// The classes of property list objects.
    public static let propertyList = AllowedClasses(unchecked: [
        "NSString", "NSNumber", "NSData", "NSDate", "NSArray", "NSDictionary",
    ])

    private init(unchecked names: NameSet) { exact = names }

    /// - Throws: `readCorrupt` for `NSObject`, which would allow every class.
    public init(_ names: some Sequence<String>) throws(ArchiveError) {
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
