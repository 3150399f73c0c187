/// Something that a check of a container's stores found, in words for its owner.
public struct StoreFinding: Sendable, Hashable {
    /// How much it matters.
    public enum Severity: String, Sendable, Hashable {
        /// Good to know.
        case note
        /// Something is left over or missing, and no item is lost.
        case warning
        /// Something that was kept cannot be read.
        case error
    }

    public var severity: Severity
    /// What is as it should not be, or how things stand.
    public var message: String
    /// What ``StoreCheck/repair()`` does about it; nil when there is nothing to be done.
    public var remedy: String?

    /// - Parameters:
    ///   - severity: how much it matters.
    ///   - message: what was found.
    ///   - remedy: what a repair does.
    package init(_ severity: Severity, _ message: String, remedy: String? = nil) {
        self.severity = severity
        self.message = message
        self.remedy = remedy
    }
}
