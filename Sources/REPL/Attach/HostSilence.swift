/// The reason for a host's silence, as far as another process can tell.
package struct HostSilence: Sendable {
    /// The message for the user: which host is silent, and how to continue.
    package var text: String
    package var isSuspended: Bool

    /// - Parameters:
    ///   - text: the message for the user.
    ///   - isSuspended: whether the host's process is stopped.
    package init(text: String, isSuspended: Bool) {
        self.text = text
        self.isSuspended = isSuspended
    }
}
