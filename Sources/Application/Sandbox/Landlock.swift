import CPlatform
import Files
import Glibc

/// The second fence of the sandbox: the kernel's own, for the whole process and its children, never to be taken back.
package enum Landlock {
    /// The kernel's ABI, 1 or more; nil where there is none.
    package static var abi: Int? {
        let abi = cubby_landlock_abi()
        return abi > 0 ? Int(abi) : nil
    }

    /// Restricts the process to some paths. Call it at the top of `main`, before a second thread exists; what is open already
    /// stays open.
    ///
    /// It does not govern `stat`, `chdir` and `chmod`, UDP, and hard links that were inside before.
    ///
    /// - Parameters:
    ///   - readWrite: paths to read and write, which must exist.
    ///   - readOnly: paths to read, which must exist.
    ///   - extra: what else is allowed; what the host needs, if not given.
    /// - Returns: the ABI that is in force.
    /// - Throws: `LandlockError`; nothing is restricted then.
    @discardableResult
    package static func restrict(
        readWrite: [String], readOnly: [String], extra: LandlockRules = .host
    ) throws(LandlockError) -> Int {
        var rules = extra
        rules.readWrite += readWrite
        rules.readOnly += readOnly
        // A path that the caller names must be there, even if it is among those that others may lack.
        rules.optional.subtract(readWrite)
        rules.optional.subtract(readOnly)
        return try restrict(rules)
    }

    /// Restricts the process to what some rules allow.
    ///
    /// - Parameter rules: the whole of what stays allowed.
    /// - Returns: the ABI that is in force.
    /// - Throws: `LandlockError`; nothing is restricted then.
    @discardableResult
    package static func restrict(_ rules: LandlockRules) throws(LandlockError) -> Int {
        guard abi != nil else { throw .unsupported }
        let threads = threadCount()
        guard threads <= 1 else { throw .threads(threads) }
        return try restrictThread(rules)
    }

    /// Restricts the calling thread and those that it makes.
    static func restrictThread(_ rules: LandlockRules) throws(LandlockError) -> Int {
        let abi = cubby_landlock_abi()
        guard abi > 0 else { throw .unsupported }
        let ruleset = cubby_landlock_ruleset(abi, rules.allowsNetwork ? 0 : 1, rules.allowsOutsideProcesses ? 0 : 1)
        guard ruleset >= 0 else { throw .refused(step: "a set of rules", code: -ruleset) }
        defer { close(ruleset) }

        let read = Int32(CUBBY_LANDLOCK_READ)
        let write = Int32(CUBBY_LANDLOCK_WRITE)
        let device = Int32(CUBBY_LANDLOCK_DEVICE)
        let execute = Int32(CUBBY_LANDLOCK_EXECUTE)
        for path in rules.readWrite { try allow(path, read | write, in: ruleset, abi, rules) }
        for path in rules.readOnly { try allow(path, read, in: ruleset, abi, rules) }
        for path in rules.execute { try allow(path, read | execute, in: ruleset, abi, rules) }
        for path in rules.devices { try allow(path, read | write | device, in: ruleset, abi, rules) }

        let removeFolder = Int32(CUBBY_LANDLOCK_REMOVE_FOLDER)
        for path in rules.removeFolders { try allow(path, removeFolder, in: ruleset, abi, rules) }

        let result = cubby_landlock_restrict(ruleset)
        guard result == 0 else { throw .refused(step: "the restriction", code: -result) }
        return Int(abi)
    }

    private static func allow(
        _ path: String, _ uses: Int32, in ruleset: Int32, _ abi: Int32, _ rules: LandlockRules
    ) throws(LandlockError) {
        let descriptor = open(path, cubby_open_path | O_CLOEXEC)
        guard descriptor >= 0 else {
            if rules.optional.contains(path) { return }
            throw .path(FileError(.open, path, code: errno))
        }
        defer { close(descriptor) }
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw .path(FileError(.status, path, code: errno)) }
        let isFolder = raw.st_mode & S_IFMT == S_IFDIR
        let result = cubby_landlock_allow(ruleset, abi, descriptor, isFolder ? 1 : 0, uses)
        guard result == 0 else { throw .refused(step: "the rule for \(path)", code: -result) }
    }

    /// How many threads the process has; 1 when /proc does not tell.
    private static func threadCount() -> Int {
        (try? PosixFileLayer().list("/proc/self/task").count) ?? 1
    }
}
