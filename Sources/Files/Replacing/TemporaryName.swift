import Glibc
import Synchronization

/// Names of an atomic write's temporary files: `.cubby-<pid>-<token>-<number>.tmp`.
///
/// The token is random for each process, which distinguishes it from an earlier process with the same id, as in
/// containers. Files that are written for scripts have a token of their own: the fence closes all other temporary files
/// to scripts, so that none changes what the host is writing.
package enum TemporaryName {
    static let prefix = ".cubby-"
    static let suffix = ".tmp"
    private static let counter = Atomic<UInt64>(0)
    private static let own = makeStart()
    private static let ofScripts = makeStart()

    private static func makeStart() -> String {
        "\(prefix)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))-"
    }

    /// A unique name, for a writer that creates its temporary file itself.
    ///
    /// - Parameter forScript: whether a script is to reach it.
    /// - Returns: a file name without folder.
    package static func next(forScript: Bool = false) -> String {
        (forScript ? ofScripts : own) + String(counter.wrappingAdd(1, ordering: .relaxed).newValue) + suffix
    }

    /// Whether a name has the form of a temporary file, of any process.
    ///
    /// - Parameter name: a file name without folder.
    /// - Returns: true for a name that `AtomicFile.removeLeftovers(in:using:)` removes.
    package static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }

    static func isOwn(_ name: String) -> Bool { name.hasPrefix(own) || name.hasPrefix(ofScripts) }

    /// Whether a component of a path is a temporary file that scripts must not reach; in any case, since some file
    /// systems do not distinguish it.
    package static func isClosed(in path: String) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { component in
            guard component.first == UInt8(ascii: "."), component.count >= prefix.utf8.count + suffix.utf8.count else {
                return false
            }
            return isEqual(component.prefix(prefix.utf8.count), prefix)
                && isEqual(component.suffix(suffix.utf8.count), suffix) && !component.starts(with: ofScripts.utf8)
        }
    }

    private static func isEqual(_ bytes: some Collection<UInt8>, _ lowercase: String) -> Bool {
        bytes.lazy.map { UInt8(ascii: "A") <= $0 && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
            .elementsEqual(lowercase.utf8)
    }
}
