public import Files
import Items

/// Why a picture could not be read, made, found or kept.
public struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of what can go wrong. New ones may be added.
    public enum Code: String, Sendable, Hashable {
        /// The file could not be read; `fileError` has the system's reason.
        case unreadable
        /// The bytes are of no format that is read.
        case notAPicture
        /// The picture is cut short, or its contents contradict themselves.
        case damaged
        /// More pixels than `ImageLimits.pixels`.
        case tooManyPixels
        /// More bytes than `ImageLimits.bytes`.
        case tooManyBytes
        /// libvips is needed and cannot be used.
        case libraryMissing
        /// The picture cannot be made in that size or format.
        case cannotMake
        /// The key cannot be a file's name, or is one of the store's own files.
        case badKey
        /// The file could not be written; `fileError` has the system's reason.
        case unwritable
    }

    public let code: Code
    /// What happened, to which picture, and what to do.
    public let message: String
    /// The file, when one is to blame.
    public let path: String?
    /// What the file system said, when it is to blame.
    public let fileError: FileError?

    public var description: String { message }

    public init(_ code: Code, _ message: String, path: String? = nil, fileError: FileError? = nil) {
        self.code = code
        self.message = path.map { "\(DisplayPath.abbreviate($0)): \(message)" } ?? message
        self.path = path
        self.fileError = fileError
    }

    /// The attachments' error as this one.
    init(_ code: Code, _ error: StoreError) {
        self.code = code
        message = error.message
        path = error.path
        fileError = error.cause as? FileError
    }

    /// The file system's error as this one.
    package init(_ code: Code, _ error: FileError) {
        self.code = code
        message = error.message
        path = error.path
        fileError = error
    }
}
