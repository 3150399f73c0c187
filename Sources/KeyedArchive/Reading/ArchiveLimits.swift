public import PropertyList

/// Limits for untrusted archives, in addition to the limits of the property list.
public struct ArchiveLimits: Sendable, Hashable {
    /// The limits of the property list.
    public var propertyList: PropertyListLimits
    /// Maximum depth of objects of the program during decoding. Collections and unknown objects do not count.
    public var maximumDepth: Int
    /// Maximum length of a class name, in bytes.
    public var maximumClassNameBytes: Int
    /// Maximum number of values in a property list made from an archive's objects, shared ones counted each time.
    public var maximumValues: Int

    /// Creates limits; omitted ones are the standard ones.
    public init(
        propertyList: PropertyListLimits = .standard, maximumDepth: Int = 512, maximumClassNameBytes: Int = 1024,
        maximumValues: Int = 1 << 24
    ) {
        self.propertyList = propertyList
        self.maximumDepth = maximumDepth
        self.maximumClassNameBytes = maximumClassNameBytes
        self.maximumValues = maximumValues
    }

    /// Limits for archives of unknown origin.
    public static let standard = ArchiveLimits()
}
