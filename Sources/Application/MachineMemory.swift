import Files

/// The memory that this process may have: the machine's, or what its control groups allow, if that is less.
package struct MachineMemory: Sendable, Hashable {
    package enum Origin: String, Sendable, Hashable {
        case machine
        case controlGroup = "control group"
    }

    package let bytes: Int
    package let origin: Origin

    /// The memory that scripts may take if nothing else is said: three quarters, so that a script that takes more and
    /// more gets an error before the kernel ends this process, or another.
    package var limitOfScripts: Int { bytes / 4 * 3 }

    /// Reads the limits.
    ///
    /// Both hierarchies are read, in which the limit of each group above the process's holds, too. What a group has of
    /// it by `memory.high`, beyond which the kernel slows its processes down, counts like `memory.max`.
    ///
    /// - Parameter root: the folder of `proc` and `sys`; "" for the machine's own.
    /// - Returns: nil where the system tells of none.
    package static func find(root: String = "") -> MachineMemory? {
        var found = machine(root).map { MachineMemory(bytes: $0, origin: .machine) }
        for bytes in controlGroups(root) where bytes < found?.bytes ?? .max {
            found = MachineMemory(bytes: bytes, origin: .controlGroup)
        }
        return found
    }

    /// The line `MemTotal: 24684084 kB`.
    private static func machine(_ root: String) -> Int? {
        let line = text(root + "/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
        let words = line?.split(separator: " ") ?? []
        guard words.count == 3, let kilobytes = Int(words[1]), kilobytes > 0, kilobytes < .max >> 10 else {
            return nil
        }
        return kilobytes << 10
    }

    /// The limits of the process's groups. "No limit" is a word in the unified hierarchy, and in the former one a number
    /// beyond any memory.
    private static func controlGroups(_ root: String) -> [Int] {
        let lines = text(root + "/proc/self/cgroup")?.split(separator: "\n") ?? []
        return lines.flatMap { line -> [Int] in
            // The hierarchy's number, its controllers, the group's path, which may have colons itself.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[0] == "0", parts[1].isEmpty {
                return limits(root + "/sys/fs/cgroup", parts[2], ["memory.max", "memory.high"])
            }
            guard parts[1].split(separator: ",").contains("memory") else { return [] }
            return limits(root + "/sys/fs/cgroup/memory", parts[2], ["memory.limit_in_bytes"])
        }
    }

    /// The limits in a group's folder, and in those above it. In a container the path may be the machine's, of which
    /// only the folder at the top is there; `..` leads out of what the process sees.
    private static func limits(_ top: String, _ group: Substring, _ names: [String]) -> [Int] {
        var folders = [top]
        for name in group.split(separator: "/").prefix(64) {
            guard name != ".." else { break }
            folders.append(PathText.join(folders[folders.count - 1], String(name)))
        }
        return folders.flatMap { folder in
            names.compactMap { name in
                text(PathText.join(folder, name))?.split(separator: "\n").first.flatMap { Int($0) }
            }
        }.filter { $0 > 0 }
    }

    private static func text(_ path: String) -> String? {
        (try? PosixFileLayer().contents(of: path, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) }
    }
}
