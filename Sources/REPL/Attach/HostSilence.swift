/// Why a host does not answer, as far as another process can see.
public struct HostSilence: Sendable {
    /// For people: who does not answer, and how it goes on.
    public var text: String
    public var isSuspended: Bool

    /// - Parameters:
    ///   - text: who does not answer, and how it goes on.
    ///   - isSuspended: whether the host's process is stopped.
    public init(text: String, isSuspended: Bool) {
        self.text = text
        self.isSuspended = isSuspended
    }
}
