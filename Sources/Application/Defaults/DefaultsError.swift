public import Files
public import PropertyList

/// The reason why defaults could not be read or written.
public enum DefaultsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file could not be read or written.
    case file(FileError)
    /// The file is not a property list, or a damaged one.
    case damaged(path: String, PropertyListError)
    /// The file is a property list, but not a dictionary.
    case notADictionary(path: String)
    /// The file does not match its checksum: it was damaged, or changed in place. Its values are used nevertheless.
    case changed(path: String)
    /// A value that a property list cannot hold.
    case value(key: String, PropertyListError)

    /// The cause, the place, and advice.
    public var message: String {
        switch self {
        case .file(let error): error.message
        case .damaged(let path, let error):
            "the preferences \(DisplayPath.abbreviate(path)) are damaged and will be quarantined: \(error)"
        case .notADictionary(let path):
            "the preferences \(DisplayPath.abbreviate(path)) are not a dictionary and will be quarantined"
        case .changed(let path):
            "the preferences \(DisplayPath.abbreviate(path)) differ from their checksum: they are damaged, or another "
                + "program changed them in place; they are used as they are, and the next change keeps this file beside"
        case .value(let key, let error): "the value for \"\(key)\" cannot be kept: \(error)"
        }
    }

    public var description: String { message }
}
