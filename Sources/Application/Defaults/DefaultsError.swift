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
        case .value(let key, let error): "the value for \"\(key)\" cannot be kept: \(error)"
        }
    }

    public var description: String { message }
}
