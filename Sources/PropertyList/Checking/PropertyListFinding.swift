/// Something that a check found.
public struct PropertyListFinding: Sendable, Hashable {
    public enum Severity: Sendable, Hashable {
        /// Something cannot be read.
        case error
        /// Every reader copes, and no writer in use does this.
        case warning
        /// What is as it may be, and worth knowing.
        case note
    }

    public var severity: Severity
    public var message: String
    /// Where in the input, in bytes from its start.
    public var byteOffset: Int?
    /// The line of an XML property list, from 1.
    public var line: Int?

    package init(_ severity: Severity, _ message: String, byteOffset: Int? = nil, line: Int? = nil) {
        self.severity = severity
        self.message = message
        self.byteOffset = byteOffset
        self.line = line
    }

    package init(_ error: PropertyListError) {
        self.init(.error, error.message, byteOffset: error.byteOffset, line: error.line)
    }
}
