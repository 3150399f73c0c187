import Glibc
import Synchronization

/// Names of an atomic write's temporary files: `.cubby-<pid>-<token>-<number>.tmp`.
///
/// The token is random for each process, which distinguishes it from an earlier process with the same id, as in
/// containers.
package enum TemporaryName {
    static let prefix = ".cubby-"
    static let suffix = ".tmp"
    private static let counter = Atomic<UInt64>(0)
    private static let own = "\(prefix)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))-"

    /// A unique name, for a writer that creates its temporary file itself.
    ///
    /// - Returns: a file name without folder.
    package static func next() -> String {
        own + String(counter.wrappingAdd(1, ordering: .relaxed).newValue) + suffix
    }

    /// Whether a name has the form of a temporary file, of any process.
    ///
    /// - Parameter name: a file name without folder.
    /// - Returns: true for a name that `AtomicFile.removeLeftovers(in:using:)` removes.
    package static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }

    static func isOwn(_ name: String) -> Bool { name.hasPrefix(own) }
}
