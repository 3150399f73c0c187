package import Files

/// The reason why a configuration cannot be used.
package enum ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A file operation failed.
    case file(FileError)
    /// The file is not a configuration.
    case damaged(path: String, reason: String)
    /// Other users could have written it.
    case exposed(path: String, reason: String)
    /// Parts of it were not approved, or were approved for another folder at the container's path.
    case changed(path: String, parts: [String])
    /// There is no home folder.
    case noHome
    /// It would be inside the container, where scripts can write.
    case inContainer(path: String)

    package var message: String {
        switch self {
        case .file(let error): error.message
        case .damaged(let path, let reason):
            "\(DisplayPath.abbreviate(path)) is not a configuration: \(reason); remove it, and configure the container anew"
        case .exposed(let path, let reason): "\(DisplayPath.abbreviate(path)) is not trusted: \(reason)"
        case .changed(let path, let parts):
            "\(DisplayPath.abbreviate(path)) was changed since it was approved, or the container was replaced: "
                + parts.joined(separator: "; ")
        case .noHome: "there is no home folder to keep a configuration in: set HOME or XDG_CONFIG_HOME"
        case .inContainer(let path):
            "the configuration's folder \(DisplayPath.abbreviate(path)) lies in the container: set XDG_CONFIG_HOME to a folder outside of it"
        }
    }

    package var description: String { message }
}
