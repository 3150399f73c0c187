import Glibc
import PropertyList

/// Tells when memory is short, from the best source that this machine has.
///
/// In order: what the service manager names (`$MEMORY_PRESSURE_WATCH`), the process's own control group, the whole system.
/// Each is a descriptor that the kernel makes ready, once in two seconds at most, when processes waited for memory for more
/// than 150 ms of them. Make it before a sandbox closes `/proc`.
public final class MemoryPressureSource {
    public enum Origin: String, Sendable, Hashable {
        case serviceManager = "service manager"
        case controlGroup = "control group"
        case system
    }

    /// "some processes waited for 150 ms in 2 s". Without privileges the window must be a multiple of 2 s; the kernel
    /// overwrites the last byte by a NUL, so there has to be one to spare.
    static let trigger = Array("some 150000 2000000\0".utf8)

    public let origin: Origin
    public let path: String
    private let descriptor: Int32
    private let events: ReadyEvents
    private var watch: LoopWatch?

    private init(_ origin: Origin, _ path: String, _ descriptor: Int32, _ events: ReadyEvents) {
        self.origin = origin
        self.path = path
        self.descriptor = descriptor
        self.events = events
    }

    deinit {
        watch?.cancel()
        close(descriptor)
    }

    /// Finds a source.
    ///
    /// - Parameters:
    ///   - environment: looks a variable up.
    ///   - root: where `proc` and `sys` are; "" for the machine's own.
    /// - Returns: nil when there is none, or the service manager has turned it off.
    public static func find(
        environment: (String) -> String? = { Environment.value($0) }, root: String = ""
    ) -> MemoryPressureSource? {
        if let path = environment("MEMORY_PRESSURE_WATCH"), !path.isEmpty {
            if path == "/dev/null" { return nil }
            let trigger = environment("MEMORY_PRESSURE_WRITE").map { Base64.decode($0.utf8) } ?? []
            if let source = open(.serviceManager, path, trigger: trigger) { return source }
        }
        if let group = ownControlGroup(root),
            let source = open(.controlGroup, root + "/sys/fs/cgroup" + group + "/memory.pressure", trigger: trigger)
        {
            return source
        }
        return open(.system, root + "/proc/pressure/memory", trigger: trigger)
    }

    /// Begins to tell.
    ///
    /// - Parameters:
    ///   - loop: watches the descriptor.
    ///   - handler: called each time that memory was short.
    public func start(on loop: EventLoop, handler: @escaping () -> Void) {
        watch?.cancel()
        watch = loop.watch(descriptor, for: events) { [weak self] ready in
            guard let self else { return }
            // The kernel's monitor is gone, with its control group: it would be ready for ever.
            if ready.contains(.error) { return stop() }
            if ready.contains(.readable), !drain() { return stop() }
            if !ready.intersection([.priority, .readable]).isEmpty { handler() }
        }
    }

    public func stop() {
        watch?.cancel()
        watch = nil
    }

    /// Reads a pipe empty; false at its end.
    private func drain() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
        }
    }

    private static func open(_ origin: Origin, _ path: String, trigger: [UInt8]) -> MemoryPressureSource? {
        let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        var raw = stat()
        let isPipe = fstat(descriptor, &raw) == 0 && raw.st_mode & S_IFMT == S_IFIFO
        if !trigger.isEmpty, write(descriptor, trigger, trigger.count) != trigger.count {
            close(descriptor)
            return nil
        }
        return MemoryPressureSource(origin, path, descriptor, isPipe ? .readable : .priority)
    }

    /// The process's group in the unified hierarchy; nil for the root group, which has no pressure of its own.
    private static func ownControlGroup(_ root: String) -> String? {
        guard let bytes = try? PosixFileLayer().contents(of: root + "/proc/self/cgroup", limit: 1 << 16) else {
            return nil
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix("0::/") {
            let group = String(line.dropFirst(3))
            return group == "/" ? nil : group
        }
        return nil
    }
}
