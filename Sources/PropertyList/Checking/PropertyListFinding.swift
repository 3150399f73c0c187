/// A finding of a check.
public struct PropertyListFinding: Sendable, Hashable {
    /// The severity of a finding.
    public enum Severity: Sendable, Hashable {
        /// An object cannot be read.
        case error
        /// An unusual form that every reader accepts.
        case warning
        /// A valid form worth reporting.
        case note
    }

    /// The severity.
    public var severity: Severity
    /// The problem.
    public var message: String
    /// The offset in the input, in bytes.
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

/// Findings in a text, by line: at most twenty, and the number of the rest.
struct PropertyListFindings {
    private var first: [PropertyListFinding] = []
    private var more = 0

    var isFull: Bool { first.count >= 20 }

    mutating func add(_ message: String, line: Int) {
        if isFull { more += 1 } else { first.append(PropertyListFinding(.warning, message, line: line)) }
    }

    var all: [PropertyListFinding] {
        more == 0 ? first : first + [PropertyListFinding(.warning, "and \(more) more findings of these kinds")]
    }
}
