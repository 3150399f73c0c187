/// What a process may still touch once Landlock is in force. Folders include all beneath them.
package struct LandlockRules: Sendable, Hashable {
    package var readWrite: [String]
    package var readOnly: [String]
    /// Read and run.
    package var execute: [String]
    /// Devices that are read, written and controlled.
    package var devices: [String]
    /// Folders beneath which empty folders may be removed.
    package var removeFolders: [String] = []
    /// Paths that may be missing on this machine are passed over when they are in here.
    package var optional: Set<String>
    /// Leave TCP as it is. Otherwise, from ABI 4 on, nothing binds or connects.
    package var allowsNetwork = false
    /// Leave signals to, and abstract sockets of, other processes as they are.
    package var allowsOutsideProcesses = false

    /// - Parameters:
    ///   - readWrite: paths to read and write.
    ///   - readOnly: paths to read.
    ///   - execute: paths to read and run.
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

    /// What the host itself needs on any machine: the system's libraries and programs, the loader's cache, the time zone,
    /// its own entry in /proc, the terminal and the usual devices. All of it may be missing.
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

    /// Adds other rules to these.
    ///
    /// - Parameter other: allowed as well.
    package mutating func add(_ other: LandlockRules) {
        readWrite += other.readWrite
        readOnly += other.readOnly
        execute += other.execute
        devices += other.devices
        removeFolders += other.removeFolders
        optional.formUnion(other.optional)
    }
}
