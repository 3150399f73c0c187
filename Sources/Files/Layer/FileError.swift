/// What went wrong with a file: what was tried, on which path, and the system's reason.
///
/// The description reads as a sentence, with the home folder abbreviated:
/// `cannot write ~/x/items.archive: No space left on device`.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was tried. New operations may be added.
    public enum Operation: String, Sendable, Hashable {
        case open
        case read
        case write
        case sync
        case rename
        case link
        case truncate
        case remove
        case list
        case status = "examine"
        case makeDirectory = "make the folder"
        case map
        case lock
        case setPermissions = "set the permissions of"
    }

    public var operation: Operation
    /// The path as the caller gave it; for a rename, where the file should have come to be.
    public var path: String
    /// The number of the system's error (`errno`), such as `ENOSPC`.
    public var code: Int32
    /// The reason in words; the system's text for `code` unless a better one was known.
    public var reason: String
    /// Whether something stands where a file or a folder of the program's own has to be: a symbolic link, a pipe, a device.
    /// The disk is well then; what is on it is not as it has to be.
    public var isMisplaced = false

    /// - Parameters:
    ///   - operation: what was tried.
    ///   - path: on which file or folder.
    ///   - code: the system's error number.
    ///   - reason: words that replace the system's text, when more is known.
    public init(_ operation: Operation, _ path: String, code: Int32, reason: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason ?? SystemErrorText.describe(code)
    }

    /// The same error of another step on another path: for callers that know what the user asked for.
    func saying(_ operation: Operation, _ path: String) -> FileError {
        var error = self
        error.operation = operation
        error.path = path
        return error
    }

    public var message: String {
        "cannot \(operation.rawValue) \(DisplayPath.abbreviate(path)): \(reason)"
    }

    public var description: String { message }
}
