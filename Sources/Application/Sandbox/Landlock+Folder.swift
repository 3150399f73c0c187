import CPlatform
import Files
import Glibc

extension Landlock {
    /// Prevents the calling thread, and the programs that it starts, from changing anything in a folder.
    ///
    /// Landlock can only permit, and only whole trees: everything beside the path to the folder may be changed. So
    /// entries of the folders on that path cannot be created, removed or renamed either.
    ///
    /// - Parameter closed: the folder.
    /// - Throws: `LandlockError`; nothing is restricted then.
    static func closeThread(_ closed: ClosedFolder) throws(LandlockError) {
        let abi = cubby_landlock_abi()
        guard abi > 0 else { throw .unsupported }
        let ruleset = cubby_landlock_change_ruleset(abi)
        guard ruleset >= 0 else { throw .refused(step: "a set of rules", code: -ruleset) }
        defer { close(ruleset) }
        for root in closed.roots {
            guard closed.isBeneath(root) else {
                allowChanges(root, in: ruleset, abi)
                continue
            }
            var above = root
            for part in closed.path.dropFirst(root.count).split(separator: "/").map(String.init) {
                // Entries that cannot be listed or opened stay closed.
                guard let names = try? PosixFileLayer().list(above) else { break }
                for name in names where name != part { allowChanges(PathText.join(above, name), in: ruleset, abi) }
                above = PathText.join(above, part)
            }
        }
        let result = cubby_landlock_restrict(ruleset)
        guard result == 0 else { throw .refused(step: "the restriction", code: -result) }
    }

    private static func allowChanges(_ path: String, in ruleset: Int32, _ abi: Int32) {
        let descriptor = open(path, cubby_open_path | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var raw = stat()
        // A link's target has its own rule.
        guard fstat(descriptor, &raw) == 0, raw.st_mode & S_IFMT != S_IFLNK else { return }
        let isFolder: Int32 = raw.st_mode & S_IFMT == S_IFDIR ? 1 : 0
        _ = cubby_landlock_allow(ruleset, abi, descriptor, isFolder, Int32(CUBBY_LANDLOCK_CHANGE))
    }
}
