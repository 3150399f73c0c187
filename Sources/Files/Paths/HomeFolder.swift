import Glibc

/// The user's home folder.
package enum HomeFolder {
    /// `$HOME` if it is set and absolute, else the entry of the user database; nil if neither exists.
    package static var path: String? {
        if let value = getenv("HOME") {
            let home = String(cString: value)
            if home.hasPrefix("/") { return home }
        }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, base, buffer.count, &found) == 0,
                found != nil, let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }
}
