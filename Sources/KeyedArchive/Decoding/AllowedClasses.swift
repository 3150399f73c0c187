/// The classes that a decoding call accepts, by name, with their subclasses.
public struct AllowedClasses: Sendable, Hashable {
    /// The names of the classes.
    public let names: Set<String>

    /// The classes of property list objects.
    public static let propertyList = AllowedClasses(unchecked: [
        "NSString", "NSNumber", "NSData", "NSDate", "NSArray", "NSDictionary",
    ])

    private init(unchecked names: Set<String>) {
        self.names = names
    }

    /// - Throws: `readCorrupt` for `NSObject`, which would allow every class.
    public init(_ names: some Sequence<String>) throws(ArchiveError) {
        let names = Set(names)
        guard !names.contains("NSObject") else {
            throw .corrupt("allowing NSObject would allow every class; name the classes that are expected")
        }
        self.names = names
    }

    /// These classes and others.
    func union(_ other: AllowedClasses) -> AllowedClasses { AllowedClasses(unchecked: names.union(other.names)) }

    /// Whether a class is one of these or below one.
    func allow(_ archivedClass: ArchivedClass) -> Bool {
        names.contains(archivedClass.name) || archivedClass.superclasses.contains { names.contains($0) }
    }
}
