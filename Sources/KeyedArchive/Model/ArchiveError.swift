public import PropertyList

/// Why an archive could not be read or written.
public struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number Cocoa gives the failure, in the domain `NSCocoaErrorDomain`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The bytes are not a property list, or not one that holds a keyed archive.
        public static let notAnArchive = Code(rawValue: 3840)
        /// A value of the archive cannot be stored in the form asked for.
        public static let writeInvalid = Code(rawValue: 3852)
        /// An index out of range, a bad or disallowed class, a value of the wrong type.
        public static let readCorrupt = Code(rawValue: 4864)
        /// A key that has to be there is absent.
        public static let valueNotFound = Code(rawValue: 4865)
        /// An object cannot be encoded.
        public static let invalidValue = Code(rawValue: 4866)
    }

    public var code: Code
    /// What happened, and what to do about it where something can be done.
    public var message: String
    /// The keys from the top of the archive to the place of the failure, outermost first; empty when unknown.
    public var path: [String]

    public init(code: Code, message: String, path: [String] = []) {
        self.code = code
        self.message = message
        self.path = path
    }

    public init(_ error: PropertyListError) {
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

    /// The same error, one key further out.
    func below(_ key: String) -> ArchiveError {
        var copy = self
        copy.path.insert(key, at: 0)
        return copy
    }
}

/// Runs what fails with a property list's error, failing with an archive's.
@inline(__always)
func lifted<Result>(_ body: () throws(PropertyListError) -> Result) throws(ArchiveError) -> Result {
    do {
        return try body()
    } catch {
        throw ArchiveError(error)
    }
}
