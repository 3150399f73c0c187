public import PropertyList

extension KeyedArchiver {
    /// An archive of one object, under the key `root`.
    public static func archivedData(
        withRootObject root: ArchiveValue?, requiringSecureCoding: Bool = false, format: PropertyListFormat = .binary
    ) throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver(requiresSecureCoding: requiringSecureCoding)
        archiver.outputFormat = format
        try archiver.encode(root, forKey: rootKey)
        return try archiver.finishEncoding()
    }

    /// An archive of one object of the program, under the key `root`.
    public static func archivedData(
        withRootObject root: any KeyedEncodable, requiringSecureCoding: Bool = false,
        format: PropertyListFormat = .binary
    ) throws(ArchiveError) -> [UInt8] {
        try archivedData(
            withRootObject: .object(root), requiringSecureCoding: requiringSecureCoding, format: format)
    }
}

extension KeyedUnarchiver {
    /// Decodes the root object of a Swift class, with secure coding: only the class, the classes that it allows, and
    /// property-list objects are decoded.
    ///
    /// - Returns: the object, or nil when the root is nil.
    public static func unarchivedObject<Object: KeyedCoding>(
        of type: Object.Type, from bytes: [UInt8], limits: ArchiveLimits = .standard
    ) throws(ArchiveError) -> Object? {
        let unarchiver = try KeyedUnarchiver(
            bytes, classes: [type], requiresSecureCoding: true, limits: limits)
        return try unarchiver.decodeObject(of: type, forKey: KeyedArchiver.rootKey)
    }

    /// Decodes the root object if it and everything below it are of these classes.
    ///
    /// - Parameters:
    ///   - allowed: the names of the classes.
    ///   - classes: the Swift classes among them.
    ///   - bytes: the archive.
    ///   - limits: the limits.
    /// - Returns: the object, or nil when the root is nil.
    /// - Throws: `readCorrupt` for an object of another class.
    public static func unarchivedObject(
        ofClasses allowed: AllowedClasses, classes: [any KeyedCoding.Type] = [], from bytes: [UInt8],
        limits: ArchiveLimits = .standard
    ) throws(ArchiveError) -> ArchiveValue? {
        let unarchiver = try KeyedUnarchiver(
            bytes, classes: classes, requiresSecureCoding: true, limits: limits)
        return try unarchiver.decodeRootObject(ofClasses: allowed)
    }
}
