import Glibc

/// The process's environment.
public enum Environment {
    /// The value of a variable.
    ///
    /// - Parameter name: which one.
    /// - Returns: nil when it is not set.
    public static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
