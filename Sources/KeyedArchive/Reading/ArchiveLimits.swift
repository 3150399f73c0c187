public import PropertyList

/// How much of an untrusted archive a reader is ready to take, beyond the limits of the property list below it.
public struct ArchiveLimits: Sendable, Hashable {
    /// The limits of the property list.
    public var propertyList: PropertyListLimits
    /// How deep objects of the program may nest while they are decoded. Collections and unknown objects don't count.
    public var maximumDepth: Int
    /// The longest class name, in bytes.
    public var maximumClassNameBytes: Int
    /// The largest number of values in a property list made of an archive's objects, shared ones counted each time.
    public var maximumValues: Int

    public init(
        propertyList: PropertyListLimits = .standard, maximumDepth: Int = 512, maximumClassNameBytes: Int = 1024,
        maximumValues: Int = 1 << 24
    ) {
        self.propertyList = propertyList
        self.maximumDepth = maximumDepth
        self.maximumClassNameBytes = maximumClassNameBytes
        self.maximumValues = maximumValues
    }

    public static let standard = ArchiveLimits()
}
