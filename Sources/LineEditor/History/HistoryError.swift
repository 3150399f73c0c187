internal import Platform

/// The history's file could not be read or written.
public struct HistoryError: Error, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The system's error number.
    public let code: Int32
    /// The message: the problem, its place and the remedy.
    public let description: String

    init(_ action: String, _ path: String, _ code: Int32) {
        self.path = path
        self.code = code
        let reason = String(cString: strerror(code))
        description =
            "The history \(path) could not be \(action): \(reason). "
            + "This session's lines won't be remembered; check the folder's permissions and the free space."
    }
}
