/// A finding of a container's check, for its owner.
public struct StoreFinding: Sendable, Hashable {
    /// The severity of a finding.
    public enum Severity: String, Sendable, Hashable {
        /// Information.
        case note
        /// A file is superfluous or missing; no item is lost.
        case warning
        /// Stored data cannot be read.
        case error
    }

    /// The severity.
    public var severity: Severity
    /// The finding.
    public var message: String
    /// The remedy that ``StoreCheck/repair()`` applies; nil for none.
    public var remedy: String?

    /// - Parameters:
    ///   - severity: the severity.
    ///   - message: the finding.
    ///   - remedy: the remedy.
    package init(_ severity: Severity, _ message: String, remedy: String? = nil) {
        self.severity = severity
        self.message = message
        self.remedy = remedy
    }
}
