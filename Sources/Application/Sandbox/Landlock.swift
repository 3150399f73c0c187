import CPlatform
package import Files
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
        guard ruleset >= 0 else { throw .denied(step: "a set of rules", code: -ruleset) }
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

        if !rules.allowsNetwork {
            try allow(rules.connectedPorts, in: ruleset, abi)
            try allow(rules.listenedPorts, listening: true, in: ruleset, abi)
        }

        let result = cubby_landlock_restrict(ruleset)
        guard result == 0 else { throw .denied(step: "the restriction", code: -result) }
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
        guard result == 0 else { throw .denied(step: "the rule for \(path)", code: -result) }
    }

    /// The process's number of threads; 1 without /proc.
    private static func threadCount() -> Int {
        (try? PosixFileLayer().list("/proc/self/task").count) ?? 1
    }
}

extension Landlock {
    /// The first ABI version that restricts TCP.
    package static let networkABI = 4

    /// Prevents the calling thread, and the programs that it starts, from changing anything in a folder, and from using
    /// TCP.
    ///
    /// Landlock can only permit, and only whole trees: everything beside the path to the folder may be changed. So
    /// entries of the folders on that path cannot be created, removed or renamed either.
    ///
    /// - Parameters:
    ///   - closed: the folder; nil for none.
    ///   - ports: the only ports that may be connected to, where the kernel can hold that; nil for all.
    /// - Throws: `LandlockError`; nothing is restricted then.
    static func closeThread(_ closed: ClosedFolder?, ports: Set<Int>? = nil) throws(LandlockError) {
        let abi = cubby_landlock_abi()
        guard abi > 0 else { throw .unsupported }
        let holdsNetwork = ports != nil && Int(abi) >= networkABI
        guard closed != nil || holdsNetwork else { return }
        let ruleset = cubby_landlock_change_ruleset(abi, closed == nil ? 0 : 1, holdsNetwork ? 1 : 0)
        guard ruleset >= 0 else { throw .denied(step: "a set of rules", code: -ruleset) }
        defer { close(ruleset) }
        if holdsNetwork { try allow(ports ?? [], in: ruleset, abi) }
        if let closed { allowChanges(beside: closed, in: ruleset, abi) }
        let result = cubby_landlock_restrict(ruleset)
        guard result == 0 else { throw .denied(step: "the restriction", code: -result) }
    }

    private static func allow(
        _ ports: Set<Int>, listening: Bool = false, in ruleset: Int32, _ abi: Int32
    ) throws(LandlockError) {
        for port in ports.sorted() {
            let result = cubby_landlock_allow_port(ruleset, abi, Int32(clamping: port), listening ? 1 : 0)
            guard result == 0 else { throw .denied(step: "the rule for the port \(port)", code: -result) }
        }
    }

    private static func allowChanges(beside closed: ClosedFolder, in ruleset: Int32, _ abi: Int32) {
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

/// A folder that a program must not change.
package struct ClosedFolder: Sendable {
    /// Absolute, without links; it need not exist.
    let path: String
    /// The folders and files that the program may otherwise change, without links.
    let roots: [String]

    /// A folder beneath paths that the kernel's fence leaves open; nil if the fence closes it already.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - roots: the paths that the fence leaves open; everything if not given.
    package init?(_ path: String, within roots: [String] = ["/"]) {
        (self.path, self.roots) = (path, roots)
        guard roots.contains(where: isBeneath) else { return nil }
    }

    func isBeneath(_ root: String) -> Bool { path == root || path.hasPrefix(root == "/" ? "/" : root + "/") }
}

/// The access that Landlock permits to a process. A folder includes its contents.
package struct LandlockRules: Sendable, Hashable {
    package var readWrite: [String]
    package var readOnly: [String]
    /// Paths to read and execute.
    package var execute: [String]
    /// Devices to read, write and control.
    package var devices: [String]
    /// Folders beneath which empty folders may be removed.
    package var removeFolders: [String] = []
    /// Paths that may be missing on this machine; missing ones are skipped.
    package var optional: Set<String>
    /// The TCP ports that the process may connect to.
    package var connectedPorts: Set<Int> = []
    /// The TCP ports that the process may listen on.
    package var listenedPorts: Set<Int> = []
    /// Leaves TCP unrestricted. Otherwise, from ABI 4 on, nothing binds or connects.
    package var allowsNetwork = false
    /// Leaves signals to other processes, and their abstract sockets, unrestricted.
    package var allowsOutsideProcesses = false

    /// - Parameters:
    ///   - readWrite: paths to read and write.
    ///   - readOnly: paths to read.
    ///   - execute: paths to read and execute.
    ///   - devices: devices to read, write and control.
    ///   - optional: those of them that may be missing.
    package init(
        readWrite: [String] = [], readOnly: [String] = [], execute: [String] = [], devices: [String] = [],
        optional: Set<String> = []
    ) {
        self.readWrite = readWrite
        self.readOnly = readOnly
        self.execute = execute
        self.devices = devices
        self.optional = optional
    }

    /// The host's own needs on any machine: system libraries and programs, the loader's cache, the time zone, its own
    /// entry in /proc, the terminal and the usual devices; the system's fonts, with which plots are labelled. All are
    /// optional.
    package static var host: LandlockRules {
        let execute = ["/usr", "/lib", "/lib64", "/bin"]
        let readOnly = [
            "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/proc/self", "/sys/devices/system/cpu",
            "/dev/urandom", "/dev/random", "/dev/zero", "/etc/fonts", "/var/cache/fontconfig",
        ]
        let devices = ["/dev/null", "/dev/tty"]
        return LandlockRules(
            readOnly: readOnly, execute: execute, devices: devices, optional: Set(execute + readOnly + devices))
    }

    /// The files that a connection needs beside its port: for names, and for the certificates of servers. All are
    /// optional.
    package static var connections: LandlockRules {
        let files = [
            "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
            "/etc/protocols", "/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/run/systemd/resolve",
        ]
        return LandlockRules(readOnly: files, optional: Set(files))
    }

    /// Adds other rules.
    ///
    /// - Parameter other: the additional rules.
    package mutating func add(_ other: LandlockRules) {
        readWrite += other.readWrite
        readOnly += other.readOnly
        execute += other.execute
        devices += other.devices
        removeFolders += other.removeFolders
        connectedPorts.formUnion(other.connectedPorts)
        listenedPorts.formUnion(other.listenedPorts)
        optional.formUnion(other.optional)
    }
}

/// The reason why the kernel's fence is not in force.
package enum LandlockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kernel has no Landlock, or it was disabled at boot.
    case unsupported
    /// Other threads exist already and would be unrestricted.
    case threads(Int)
    /// A required path cannot be opened.
    case path(FileError)
    /// The kernel refused a step, with this error number.
    case denied(step: String, code: Int32)

    package var message: String {
        switch self {
        case .unsupported:
            "the kernel offers no Landlock (Linux 5.13 or newer, with landlock among the security modules)"
        case .threads(let count):
            "the sandbox must be closed before other threads begin; there are \(count)"
        case .path(let error): "the sandbox cannot let a path in: \(error.message)"
        case .denied(let step, let code): "the kernel refused \(step): \(SystemErrorText.describe(code))"
        }
    }

    package var description: String { message }
}
