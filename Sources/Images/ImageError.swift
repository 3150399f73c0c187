public import Files
import Items

/// An error in reading, making, finding or storing a picture.
public struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. New ones may be added.
    public enum Code: String, Sendable, Hashable {
        /// The file could not be read; `fileError` has the system's reason.
        case unreadable
        /// The format is unknown.
        case notAPicture
        /// The picture is truncated or inconsistent.
        case damaged
        /// More pixels than `ImageLimits.pixels`.
        case tooManyPixels
        /// More bytes than `ImageLimits.bytes`.
        case tooManyBytes
        /// libvips is required and not available.
        case libraryMissing
        /// The picture cannot be encoded in that size or format.
        case cannotMake
        /// The key is not a valid file name, or a name of the store's own files.
        case badKey
        /// The file could not be written; `fileError` has the system's reason.
        case unwritable
        /// Only the server of a shared collection has the picture, and it does not answer.
        case disconnected
    }

    /// The kind of error.
    public let code: Code
    /// The problem, the picture, and the remedy.
    public let message: String
    /// The file, if the error has one.
    public let path: String?
    /// The file system's error, if there is one.
    public let fileError: FileError?

    public var description: String { message }

    /// Creates an error with its code, its message, and the file behind it.
    public init(_ code: Code, _ message: String, path: String? = nil, fileError: FileError? = nil) {
        self.code = code
        self.message = path.map { "\(DisplayPath.abbreviate($0)): \(message)" } ?? message
        self.path = path
        self.fileError = fileError
    }

    /// Converts an error of the attachments.
    init(_ code: Code, _ error: StoreError) {
        self.code = error.code == .disconnected ? .disconnected : code
        message = error.message
        path = error.path
        fileError = error.cause as? FileError
    }

    /// Converts an error of the file system.
    package init(_ code: Code, _ error: FileError) {
        self.code = code
        message = error.message
        path = error.path
        fileError = error
    }
}
