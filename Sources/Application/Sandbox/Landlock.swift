import CPlatform
import Files
import Glibc

/// The sandbox's second fence, in the kernel: for the whole process and its children, irrevocably.
package enum Landlock {
    /// The kernel's ABI version, from 1; nil without Landlock.
    package static var abi: Int? {
        let abi = cubby_landlock_abi()
        return abi > 0 ? Int(abi) : nil
    }

    /// Restricts the process to some paths. Call it at the top of `main`, before a second thread exists; open
    /// descriptors stay open.
    ///
    /// It does not govern `stat`, `chdir`, `chmod`, UDP, and existing hard links inside.
    ///
    /// - Parameters:
    ///   - readWrite: paths to read and write, which must exist.
    ///   - readOnly: paths to read, which must exist.
    ///   - extra: further rules; by default the host's needs.
    /// - Returns: the ABI version in force.
    /// - Throws: `LandlockError`; nothing is restricted then.
    @discardableResult
    package static func restrict(
        readWrite: [String], readOnly: [String], extra: LandlockRules = .host
    ) throws(LandlockError) -> Int {
        var rules = extra
        rules.readWrite += readWrite
        rules.readOnly += readOnly
        // The caller's paths must exist, even when they are optional elsewhere.
        rules.optional.subtract(readWrite)
        rules.optional.subtract(readOnly)
        return try restrict(rules)
    }

    /// Restricts the process to some rules.
    ///
    /// - Parameter rules: all permitted access.
    /// - Returns: the ABI version in force.
    /// - Throws: `LandlockError`; nothing is restricted then.
    @discardableResult
    package static func restrict(_ rules: LandlockRules) throws(LandlockError) -> Int {
        guard abi != nil else { throw .unsupported }
        let threads = threadCount()
        guard threads <= 1 else { throw .threads(threads) }
        return try restrictThread(rules)
    }

    /// Restricts the calling thread and the threads that it creates.
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

        for port in rules.connectedPorts.sorted() where !rules.allowsNetwork {
            let result = cubby_landlock_allow_port(ruleset, abi, Int32(clamping: port))
            guard result == 0 else { throw .refused(step: "the rule for the port \(port)", code: -result) }
        }

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

    /// The process's number of threads; 1 without /proc.
    private static func threadCount() -> Int {
        (try? PosixFileLayer().list("/proc/self/task").count) ?? 1
    }
}
