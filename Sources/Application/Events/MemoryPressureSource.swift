import CPlatform
import Files
import Glibc
import PropertyList
import Synchronization

/// Reports memory pressure, from the best available source.
///
/// In order: the source named by the service manager (`$MEMORY_PRESSURE_WATCH`), the process's own control group, the
/// whole system. Each is a descriptor that becomes ready, at most once in two seconds, when processes waited for memory
/// for more than 150 ms of them. Create it before a sandbox closes `/proc`; arm it in a long-lived process only: the
/// kernel takes about 10 ms to remove an armed source at the process's end.
package final class MemoryPressureSource {
    package enum Origin: String, Sendable, Hashable {
        case serviceManager = "service manager"
        case controlGroup = "control group"
        case system
    }

    /// "Some processes waited for 150 ms in 2 s". Without privileges the window must be a multiple of 2 s. The kernel
    /// overwrites the last byte with a NUL, so one is appended.
    static let trigger = Array("some 150000 2000000\0".utf8)

    /// An available source.
    private struct Candidate {
        let origin: Origin
        let path: String
        let descriptor: Int32
        let events: ReadyEvents
        let trigger: [UInt8]

        func takesTrigger() -> Bool {
            trigger.isEmpty || cubby_write(descriptor, trigger, trigger.count) == trigger.count
        }
    }

    /// In order of preference; once armed, the armed one.
    private var candidates: [Candidate]
    private var isArmed = false
    private var watch: LoopWatch?

    private init(_ candidates: [Candidate]) { self.candidates = candidates }

    deinit {
        watch?.cancel()
        for candidate in candidates { close(candidate.descriptor) }
    }

    /// Finds the available sources.
    ///
    /// - Parameters:
    ///   - environment: reads a variable.
    ///   - root: the folder of `proc` and `sys`; "" for the machine's own.
    /// - Returns: nil when there is none, or the service manager has disabled it.
    package static func find(
        environment: (String) -> String? = { ProcessEnvironment.value($0) }, root: String = ""
    ) -> MemoryPressureSource? {
        var candidates: [Candidate?] = []
        if let path = environment("MEMORY_PRESSURE_WATCH"), !path.isEmpty {
            if path == "/dev/null" { return nil }
            let trigger = environment("MEMORY_PRESSURE_WRITE").map { Base64.decode($0.utf8) } ?? []
            candidates.append(open(.serviceManager, path, trigger: trigger))
        }
        if let group = processControlGroup(root) {
            let path = root + "/sys/fs/cgroup" + group + "/memory.pressure"
            candidates.append(open(.controlGroup, path, trigger: trigger))
        }
        candidates.append(open(.system, root + "/proc/pressure/memory", trigger: trigger))
        let found = candidates.compactMap { $0 }
        return found.isEmpty ? nil : MemoryPressureSource(found)
    }

    /// Arms the first source that accepts the trigger.
    ///
    /// - Returns: the source; nil when there is none.
    @discardableResult
    package func arm() -> (origin: Origin, path: String)? {
        while !isArmed, let best = candidates.first {
            isArmed = best.takesTrigger()
            for candidate in isArmed ? candidates.dropFirst() : candidates.prefix(1) { close(candidate.descriptor) }
            candidates = isArmed ? [best] : Array(candidates.dropFirst())
        }
        return candidates.first.map { ($0.origin, $0.path) }
    }

    /// Arms the source and starts reporting.
    ///
    /// - Parameters:
    ///   - loop: watches the descriptor.
    ///   - handler: called with the source at each report.
    package func start(on loop: EventLoop, handler: @escaping (Origin) -> Void) {
        watch?.cancel()
        guard arm() != nil, let armed = candidates.first else { return }
        watch = loop.watch(armed.descriptor, for: armed.events) { [weak self] ready in
            guard let self else { return }
            // The kernel's monitor is gone with its control group: it would stay ready forever.
            if ready.contains(.error) { return stop() }
            if ready.contains(.readable), !Self.drain(armed.descriptor) { return stop() }
            if !ready.intersection([.priority, .readable]).isEmpty { handler(armed.origin) }
        }
    }

    package func stop() {
        watch?.cancel()
        watch = nil
    }

    /// Drains a pipe; false at its end.
    private static func drain(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
        }
    }

    private static func open(_ origin: Origin, _ path: String, trigger: [UInt8]) -> Candidate? {
        let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        var raw = stat()
        let isPipe = fstat(descriptor, &raw) == 0 && raw.st_mode & S_IFMT == S_IFIFO
        return Candidate(
            origin: origin, path: path, descriptor: descriptor, events: isPipe ? .readable : .priority,
            trigger: trigger)
    }

    /// The process's group in the unified hierarchy; nil for the root group, which has no pressure file.
    private static func processControlGroup(_ root: String) -> String? {
        let lines = MachineMemory.text(root + "/proc/self/cgroup")?.split(separator: "\n") ?? []
        let group = lines.first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) }
        return group == "/" ? nil : group
    }
}

/// Samples the process's memory every few milliseconds on a thread of its own, while it has users.
package final class MemoryWatch: Sendable {
    /// The sampling interval in microseconds.
    private static let interval: UInt32 = 4000

    private struct State: Sendable {
        var limit = Int.max
        /// The number of users.
        var watchers = 0
        var isEnded = false
    }

    private let monitor = Monitor(State())
    private let onExcess: @Sendable () -> Void
    private let hasThread = Atomic(false)

    /// - Parameter onExcess: called on the sampling thread at each sample beyond the limit.
    package init(onExcess: @escaping @Sendable () -> Void) { self.onExcess = onExcess }

    /// The process's private memory in bytes, without mapped files. Nil where the system does not report it.
    package static func processMemory() -> Int? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return processMemory(from: descriptor)
    }

    private static func processMemory(from descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        // Pages: address space, resident, shared.
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        let pages = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count < 3 ? nil : (pages[1] - pages[2]) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Samples until a matching `end()`.
    ///
    /// - Parameter limit: the limit in bytes.
    package func begin(limit: Int) {
        monitor.change {
            $0.limit = limit
            $0.watchers += 1
        }
        guard hasThread.exchange(true, ordering: .relaxed) == false else { return }
        let (monitor, onExcess) = (monitor, onExcess)
        _ = WorkerThread { Self.serve(monitor, onExcess) }
    }

    package func end() { monitor.change { $0.watchers -= 1 } }

    deinit { monitor.change { $0.isEnded = true } }

    private static func serve(_ monitor: Monitor<State>, _ onExcess: () -> Void) {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        while true {
            let state = monitor.wait(until: { $0.watchers > 0 || $0.isEnded }) { $0 }
            if state.isEnded { return }
            if let memory = processMemory(from: descriptor), memory > state.limit { onExcess() }
            usleep(interval)
        }
    }
}

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

    fileprivate static func text(_ path: String) -> String? {
        (try? PosixFileLayer().contents(of: path, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) }
    }
}
