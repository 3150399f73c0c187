public import PropertyList

/// An error in reading or writing an archive.
public struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Cocoa's error number in the domain `NSCocoaErrorDomain`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The bytes are not a property list, or not one that holds a keyed archive.
        public static let notAnArchive = Code(rawValue: 3840)
        /// The requested form cannot represent a value.
        public static let writeInvalid = Code(rawValue: 3852)
        /// An index out of range, a bad or disallowed class, a value of the wrong type.
        public static let readCorrupt = Code(rawValue: 4864)
        /// A required key is absent.
        public static let valueNotFound = Code(rawValue: 4865)
        /// An object cannot be encoded.
        public static let invalidValue = Code(rawValue: 4866)
    }

    /// The kind of error.
    public var code: Code
    /// The problem and, if there is one, its remedy.
    public var message: String
    /// The keys from the top of the archive to the failure, outermost first; empty when unknown.
    public var path: [String]

    /// Creates an error, such as that of a class whose `init(coder:)` refuses what it decodes. The calls that decode put
    /// the keys that lead to it in front of its path.
    public init(code: Code, message: String, path: [String] = []) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// Wraps an error of the property list.
    package init(_ error: PropertyListError) {
        self.init(code: Code(rawValue: error.code.rawValue), message: error.description)
    }

    public var description: String {
        path.isEmpty ? message : "\(path.joined(separator: ".")): \(message)"
    }

    static func corrupt(_ message: String) -> ArchiveError {
        ArchiveError(code: .readCorrupt, message: message)
    }

    static func invalid(_ message: String) -> ArchiveError {
        ArchiveError(code: .invalidValue, message: message)
    }

    static func notAnArchive(_ message: String) -> ArchiveError {
        ArchiveError(code: .notAnArchive, message: message)
    }

    /// The error with one more key at the front of its path.
    func below(_ key: String) -> ArchiveError {
        var copy = self
        copy.path.insert(key, at: 0)
        return copy
    }
}

/// Runs a function and converts its property-list error to an archive error.
@inline(__always)
func lifted<Result>(_ body: () throws(PropertyListError) -> Result) throws(ArchiveError) -> Result {
    do {
        return try body()
    } catch {
        throw ArchiveError(error)
    }
}

/// Reads of the property list with the archive's errors.
extension BinaryPropertyListReader {
    @inline(__always)
    func uid(in number: Int) throws(ArchiveError) -> UInt32? {
        try lifted { () throws(PropertyListError) in try uid(at: number) }
    }

    @inline(__always)
    func container(in number: Int) throws(ArchiveError) -> BinaryPropertyListContainer? {
        try lifted { () throws(PropertyListError) in try container(at: number) }
    }

    func kind(in number: Int) throws(ArchiveError) -> Kind {
        try lifted { () throws(PropertyListError) in try kind(of: number) }
    }

    func number(in number: Int) throws(ArchiveError) -> Number? {
        try lifted { () throws(PropertyListError) in try self.number(at: number) }
    }

    func data(in number: Int) throws(ArchiveError) -> UnsafeRawBufferPointer? {
        try lifted { () throws(PropertyListError) in try data(at: number) }
    }

    func value(in number: Int) throws(ArchiveError) -> PropertyListValue {
        try lifted { () throws(PropertyListError) in try value(at: number) }
    }
}

/// Limits for untrusted archives, in addition to the limits of the property list.
public struct ArchiveLimits: Sendable, Hashable {
    /// The limits of the property list.
    package var propertyList: PropertyListLimits
    /// Maximum depth of objects of the program during decoding. Collections and unknown objects do not count.
    package var maximumDepth: Int
    /// Maximum length of a class name, in bytes.
    package var maximumClassNameBytes: Int
    /// Maximum number of values in a property list made from an archive's objects, shared ones counted each time.
    package var maximumValues: Int

    /// Creates limits; omitted ones are the standard ones.
    public init(
        propertyList: PropertyListLimits = PropertyListLimits(), maximumDepth: Int = 512,
        maximumClassNameBytes: Int = 1024,
        maximumValues: Int = 1 << 24
    ) {
        self.propertyList = propertyList
        self.maximumDepth = maximumDepth
        self.maximumClassNameBytes = maximumClassNameBytes
        self.maximumValues = maximumValues
    }

    /// Limits for archives of unknown origin.
    package static let standard = ArchiveLimits()
}
