import Glibc

/// The process's environment.
public enum Environment {
    /// The value of a variable.
    ///
    /// - Parameter name: the variable.
    /// - Returns: nil when it is not set.
    public static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Sets a variable for this process and its children.
    ///
    /// - Parameters:
    ///   - name: the variable.
    ///   - value: its new value.
    public static func set(_ name: String, _ value: String) { setenv(name, value, 1) }
}
