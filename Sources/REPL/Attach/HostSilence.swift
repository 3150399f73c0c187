/// Why a host does not answer, as far as another process can see.
package struct HostSilence: Sendable {
    /// For people: who does not answer, and how it goes on.
    package var text: String
    package var isSuspended: Bool

    /// - Parameters:
    ///   - text: who does not answer, and how it goes on.
    ///   - isSuspended: whether the host's process is stopped.
    package init(text: String, isSuspended: Bool) {
        self.text = text
        self.isSuspended = isSuspended
    }
}
