internal import Platform

/// The terminal refused a mode.
public struct TerminalError: Error, Sendable, CustomStringConvertible {
    /// The system's error number.
    public let code: Int32
    /// The message: the problem and the remedy.
    public let description: String

    init(_ action: String, _ code: Int32) {
        self.code = code
        let reason = String(cString: strerror(code))
        description = "The terminal could not be \(action): \(reason). Lines can be read without editing (TERM=dumb)."
    }
}
