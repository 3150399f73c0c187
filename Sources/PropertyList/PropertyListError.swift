/// An error in reading or writing a property list.
public struct PropertyListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Cocoa's error number in the domain `NSCocoaErrorDomain`.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The bytes are not a property list, or a damaged one.
        public static let readCorrupt = Code(rawValue: 3840)
        /// The format is recognised and not supported.
        public static let readUnknownVersion = Code(rawValue: 3841)
        /// The bytes could not be read.
        public static let readStream = Code(rawValue: 3842)
        /// The bytes could not be written.
        public static let writeStream = Code(rawValue: 3851)
        /// The format cannot represent the value.
        public static let writeInvalid = Code(rawValue: 3852)
    }

    /// The kind of error.
    public var code: Code
    /// The problem and, if there is one, its remedy.
    public var message: String
    /// The offset in the input, in bytes.
    public var byteOffset: Int?
    /// The line of an XML property list, from 1.
    public var line: Int?

    /// Creates an error, with its position if known.
    public init(code: Code, message: String, byteOffset: Int? = nil, line: Int? = nil) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.line = line
    }

    public var description: String {
        var place = ""
        if let line { place += " (line \(line))" } else if let byteOffset { place += " (at byte \(byteOffset))" }
        return message + place
    }

    static func corrupt(_ message: String, at offset: Int? = nil) -> PropertyListError {
        PropertyListError(code: .readCorrupt, message: message, byteOffset: offset)
    }

    static func unwritable(_ message: String) -> PropertyListError {
        PropertyListError(code: .writeInvalid, message: message)
    }
}
