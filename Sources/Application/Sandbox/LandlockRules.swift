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
    /// entry in /proc, the terminal and the usual devices. All are optional.
    package static var host: LandlockRules {
        let execute = ["/usr", "/lib", "/lib64", "/bin"]
        let readOnly = [
            "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/proc/self", "/sys/devices/system/cpu",
            "/dev/urandom", "/dev/random", "/dev/zero",
        ]
        let devices = ["/dev/null", "/dev/tty"]
        return LandlockRules(
            readOnly: readOnly, execute: execute, devices: devices, optional: Set(execute + readOnly + devices))
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
        optional.formUnion(other.optional)
    }
}
